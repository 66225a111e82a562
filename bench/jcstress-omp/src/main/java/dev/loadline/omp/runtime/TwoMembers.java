package dev.loadline.omp.runtime;

/** A team of two whose members are driven by jcstress's threads in place of the team's own. */
class TwoMembers {
    final Team team = new Team(Member.alone());
    final Member first;
    final Member second;

    /** With spinning, or without, so that each wait goes on to sleep. */
    TwoMembers(boolean spins) {
        first = team.members[0];
        second = new Member(team, 1);
        team.members = new Member[] {first, second};
        team.words = new long[][] {first.words, second.words};
        team.size = 2;
        team.forked = 2;
        team.spin = spins ? 1000 : 0;
        Words.set(second.words, WaitingMember.STATE, WaitingMember.AWAKE);
        first.begin(1);
        second.begin(1);
    }
}
