package dev.loadline.clinic.fault;

import jakarta.servlet.http.HttpServletRequest;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.stereotype.Component;

/** Statistics that are asked for before every page over one connection, kept in a field. */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "shared-connection")
class SharedConnection extends PageFault implements DisposableBean {
    private final DataSource pool;
    private Connection kept;
    private JdbcTemplate jdbc;

    SharedConnection(DataSource pool) {
        this.pool = pool;
    }

    @Override
    protected void before(HttpServletRequest request) throws SQLException {
        template().queryForList("SELECT kind, count(*) FROM pet JOIN visit ON pet.id = visit.pet_id GROUP BY kind");
    }

    private synchronized JdbcTemplate template() throws SQLException {
        if (jdbc == null) {
            kept = pool.getConnection();
            jdbc = new JdbcTemplate(new SingleConnectionDataSource(kept, true));
        }
        return jdbc;
    }

    @Override
    public synchronized void destroy() throws SQLException {
        if (kept != null) {
            kept.close();
        }
    }
}
