/**
 * What can follow the CPUs at hand while it runs: listeners for {@link dev.loadline.share.Share#onChange}.
 * loadline-guard and loadline-omp ask a {@link dev.loadline.share.CpuSource} themselves. What a JVM fixes at its start cannot follow: its GC and JIT threads (start
 * wide, as {@code loadline share run} does), and anything sized once by {@code availableProcessors()}.
 */
package dev.loadline.share.adapt;
