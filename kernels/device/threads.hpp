#pragma once

/// How many threads work may run on. Everything that starts threads for a caller asks here: docs/threads.md has the
/// rules.
namespace espalier::device {

/// Threads for work that begins now in the calling thread, at least 1.
///
/// `asked` is the caller's own number, which may exceed the CPUs; 0 leaves it to OMP_NUM_THREADS, or to
/// omp_set_num_threads, and never takes more than `most`, nor more than the CPUs that the calling thread may run on:
/// those that it starts inherit its mask. (A changed mask is noticed within 64 calls: asking takes as long as a small
/// call.) OMP_THREAD_LIMIT holds for both.
///
/// 1, whatever was asked for, where OpenMP would not start another thread, inside of a parallel region unless nested
/// ones are allowed; and in a child that was forked while its parent had several threads, because OpenMP's are not
/// there to wake up any more.
int allowed_threads(int asked, int most);

/// Whether this process was forked by one that had several threads, and did not start another program since.
bool forked_from_threads();

/// While it lives, parallel regions that the calling thread starts without naming a number get so many threads.
class TeamSize {
public:
    explicit TeamSize(int threads);
    ~TeamSize();
    TeamSize(const TeamSize&) = delete;
    TeamSize& operator=(const TeamSize&) = delete;

private:
    int before_ = 0;  ///< 0 if nothing was changed
};

}  // namespace espalier::device
