package dev.loadline.clinic.fault;

import com.zaxxer.hikari.HikariDataSource;
import dev.loadline.bed.SlowRelay;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.h2.tools.Server;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/** A database behind a network: its answers arrive 3 ms late. Needs {@code spring.sql.init.mode=always}, for it is embedded no more. */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "slow-database")
class SlowDatabase implements Fault, BeanPostProcessor, DisposableBean {
    private static final long DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(3);
    private static final String H2 = "jdbc:h2:";

    private Server server;
    private SlowRelay relay;

    /** Before the pool opens a connection. */
    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
        if (bean instanceof HikariDataSource pool) {
            try {
                server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists").start();
                relay = new SlowRelay(server.getPort(), DELAY_NANOS);
            } catch (SQLException e) {
                throw new IllegalStateException("H2's server: " + e.getMessage(), e);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            pool.setJdbcUrl(H2 + "tcp://127.0.0.1:" + relay.port() + "/" + pool.getJdbcUrl().substring(H2.length()));
        }
        return bean;
    }

    @Override
    public void destroy() throws IOException {
        if (relay != null) {
            relay.close();
            server.stop();
        }
    }
}
