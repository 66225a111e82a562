//! The machine's CPUs and how near they are to each other.

/// A CPU and what it shares with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// Its number.
    pub id: u32,
    /// The NUMA node.
    pub node: u32,
    /// The last-level cache.
    pub cache: u32,
    /// The core, whose hardware threads are each a CPU.
    pub core: u32,
}

/// The CPUs that may be handed out, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    cpus: Vec<Cpu>,
}

impl Topology {
    /// Of these CPUs; of two with one number the first counts.
    pub fn new(mut cpus: Vec<Cpu>) -> Topology {
        cpus.sort_by_key(|c| c.id);
        cpus.dedup_by_key(|c| c.id);
        Topology { cpus }
    }

    /// CPUs 0 to `cpus`-1, all alike.
    pub fn flat(cpus: u32) -> Topology {
        let cpu = |id| Cpu {
            id,
            node: 0,
            cache: 0,
            core: id,
        };
        Topology {
            cpus: (0..cpus).map(cpu).collect(),
        }
    }

    /// All of them, by number.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// Where a CPU stands in [`Topology::cpus`].
    pub(crate) fn index(&self, id: u32) -> Option<usize> {
        self.cpus.binary_search_by_key(&id, |c| c.id).ok()
    }

    /// How much two CPUs share: each level counts more than all those outside it.
    pub(crate) fn closeness(&self, a: usize, b: usize) -> u32 {
        let (a, b) = (self.cpus[a], self.cpus[b]);
        match () {
            () if a.node != b.node => 0,
            () if a.cache != b.cache => 1,
            () if a.core != b.core => 2,
            // Its own sibling: nobody else then runs on the core.
            () => 3,
        }
    }

    /// Of `had` the `count` that lie closest together; the lowest among equals.
    pub(crate) fn closest(&self, had: &[usize], count: usize) -> Vec<usize> {
        let mut kept = had.to_vec();
        while kept.len() > count {
            let score = |i: usize| kept.iter().map(|&o| self.closeness(i, o)).sum::<u32>();
            let Some(out) =
                (0..kept.len()).min_by_key(|&k| (score(kept[k]), std::cmp::Reverse(kept[k])))
            else {
                break;
            };
            kept.remove(out);
        }
        kept
    }

    /// Where to begin: the first free CPU of the cache that has just enough free CPUs, else of the node that has, else
    /// of the cache with most.
    pub(crate) fn start(&self, free: &[usize], wanted: usize) -> Option<usize> {
        let count =
            |of: &dyn Fn(usize) -> u32, i: usize| free.iter().filter(|&&o| of(o) == of(i)).count();
        let cache = |i: usize| self.cpus[i].cache;
        let node = |i: usize| self.cpus[i].node;
        let tightest = |of: &dyn Fn(usize) -> u32| {
            free.iter()
                .copied()
                .filter(|&i| count(of, i) >= wanted)
                .min_by_key(|&i| (count(of, i), i))
        };
        tightest(&cache).or_else(|| tightest(&node)).or_else(|| {
            free.iter()
                .copied()
                .max_by_key(|&i| (count(&cache, i), std::cmp::Reverse(i)))
        })
    }
}
