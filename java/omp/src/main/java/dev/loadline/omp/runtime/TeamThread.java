package dev.loadline.omp.runtime;

/** A thread that serves one place of a team: it waits for regions and runs its part of each. */
final class TeamThread extends Thread {
    /** As whom this thread runs at the moment: its place in the team, or in a team nested in that. */
    Member current;

    private final Member place;
    private final long seen;
    /** The kernel's number of this thread, once it runs. */
    volatile String kernelThread = "";

    TeamThread(Member place, long seen) {
        super(null, null, "omp-" + place.team.id + "." + place.number, 0, true);
        setDaemon(true);
        this.place = place;
        this.current = place;
        this.seen = seen;
    }

    @Override
    public void run() {
        if (Settings.OF_PROCESS.bind()) {
            Binding.bind(place.number);
        }
        if (!Cpus.isGiven()) {
            kernelThread = CpuTimes.currentThread();
        }
        place.team.serve(place, seen);
    }
}
