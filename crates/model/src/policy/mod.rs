//! Decisions that the guard takes too, as pure functions of a snapshot: whom it admits. (Which CPUs an application gets:
//! `loadline-policy`, which the CPU manager calls as well.)

pub mod admission;
