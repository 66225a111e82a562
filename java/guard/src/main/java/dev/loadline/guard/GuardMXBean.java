package dev.loadline.guard;

/** The guard in JMX: {@code dev.loadline:type=Guard,name="https-jsse-nio-8443"}. Counts are since the start. */
public interface GuardMXBean {
    /** off, observe or enforce; may be set. */
    String getMode();

    void setMode(String mode);

    /** Response time that is aimed at, such as p95=250ms; may be set. */
    String getObjective();

    void setObjective(String objective);

    /** Whether connections are being refused now; in observe, whether they would be. */
    boolean isRefusing();

    /** Whether everybody is admitted because the guard's own loop does not run. */
    boolean isStalled();

    /** CPUs at hand. */
    double getCpus();

    /** Who said how many CPUs there are. */
    String getCpusFrom();

    /** CPU time of a new session, all its requests included, ms. */
    double getNewCostMillis();

    /** CPU time of a session that begins with a ticket, ms. */
    double getResumedCostMillis();

    /** CPU time of a handshake that fails, such as of a forged ticket, ms. */
    double getFailedCostMillis();

    /** Handshakes that the costs were learnt from. */
    long getLearntFrom();

    /** New sessions that the next second can carry to their end. */
    long getNewPerInterval();

    /** CPU time per second of all sessions that would begin, refused ones included. */
    double getOfferedCpus();

    /** Factor by which the control corrects its pace: 1 where learnt costs are right. */
    double getCorrection();

    /** Threads that wait for a CPU, and events that wait for a thread, per CPU; measured when the CPUs are busy. */
    double getWaiting();

    /** Delay that who begins a session sees before worker and CPU, in the last quarter of a second, ms. */
    double getDelayMillis();

    /** What of it is aimed at while more is offered than can be served, ms. */
    double getTargetDelayMillis();

    /** Full handshakes that were admitted and wait for their turn. */
    int getHandshakesWaiting();

    /** Events that a worker has, or that wait for one, or for their turn. */
    int getEventsUnderWay();

    /** From 0 (none) to 3 (all): which requests are shed; see the documentation. */
    double getShedLevel();

    /** Share of the CPUs at hand that the process used in the last quarter of a second. */
    double getUtilization();

    long getConnections();

    long getOpenConnections();

    long getFullHandshakes();

    long getResumedHandshakes();

    /** Handshakes that the TLS engine refused. */
    long getFailedHandshakes();

    /** Clients that vanished in mid-handshake. */
    long getVanished();

    /** Connections that claimed a session. */
    long getClaims();

    /** Claims that were not good: forged or stale. */
    long getBadClaims();

    long getExempted();

    long getRequests();

    /** Of requests: sessions that began with one. */
    long getNewSessions();

    /** Of requests: sessions that the server knew and had not served of late. */
    long getReturningSessions();

    /** New connections refused; in observe, that would have been. */
    long getRefusedNew();

    /** Claims refused; in observe, that would have been. */
    long getRefusedClaims();

    /** Refused because the delay that the objective allows was reached, or would have been. */
    long getRefusedByBudget();

    /** Sessions under way held back, because they alone were too much. */
    long getRefusedByCeiling();

    /** Refused because the claim was not good and no budget for a new connection was left. */
    long getRefusedBadClaims();

    /** Refused because the same ticket came too often. */
    long getRefusedReplays();

    /** Refused because most claims of the address were not good. */
    long getRefusedAddresses();

    /** Refused because what came was not TLS. */
    long getRefusedNotTls();

    /** Refused because the ClientHello took too long. */
    long getRefusedSlowHellos();

    /** Requests answered 503 to protect others. */
    long getShedRequests();

    /** Refusals answered with the page. */
    long getPages();

    /** Connections let in although they were to be refused, to ask for a health path. */
    long getProbes();

    /** Exceptions inside the guard; each let somebody in. */
    long getErrors();
}
