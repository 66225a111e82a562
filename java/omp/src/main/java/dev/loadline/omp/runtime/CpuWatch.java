package dev.loadline.omp.runtime;

/** Watches what CPU time a team's threads get, a window at a time, and keeps what {@link CpuShare} made of it. */
final class CpuWatch {
    private final Team team;
    private final CpuShare share = new CpuShare();

    private String master;
    private int size;
    private long sinceNs;
    private long ranNs;
    private long waitedNs;
    private long idleNs;

    CpuWatch(Team team) {
        this.team = team;
    }

    /** The most threads that make sense now; called by the team's master, before a region. */
    int limit(long nowNs) {
        if (master == null) {
            master = CpuTimes.currentThread();
            begin(nowNs);
        } else if (nowNs - sinceNs >= CpuShare.windowNs(size)) {
            long ranBefore = ranNs;
            long waitedBefore = waitedNs;
            long idleBefore = idleNs;
            boolean sameTeam = size == team.size;
            boolean knewIdle = idleBefore != 0;
            long lengthNs = nowNs - sinceNs;
            begin(nowNs);
            if (sameTeam) {
                double idleCpus = knewIdle && share.asksForIdle() ? (double) (idleNs - idleBefore) / lengthNs : 0;
                share.decide(nowNs, size, ranNs - ranBefore, waitedNs - waitedBefore, idleCpus);
            }
        }
        return share.limit();
    }

    private void begin(long nowNs) {
        sinceNs = nowNs;
        size = team.size;
        long[] sums = new long[2];
        CpuTimes.add(master, sums);
        for (int i = 1; i < size; i++) {
            CpuTimes.add(team.members[i].kernelThread(), sums);
        }
        ranNs = sums[0];
        waitedNs = sums[1];
        idleNs = share.asksForIdle() ? CpuTimes.idleNs(Binding.allowed()) : 0;
    }
}
