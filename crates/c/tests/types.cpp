// The types of C++: what the standard asks of them, with its guards, its clocks and others.
#include <lockwright.hpp>

#include <condition_variable>
#include <cstdio>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;

static int failures;

#define IS(condition)                                                                                                  \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::printf("line %d: %s\n", __LINE__, #condition);                                                        \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

template <class Lock, class Raw> constexpr bool is_plain()
{
    return sizeof(Lock) == sizeof(Raw) && alignof(Lock) == alignof(Raw) && std::is_standard_layout_v<Lock> &&
           !std::is_copy_constructible_v<Lock> && !std::is_copy_assignable_v<Lock> &&
           std::is_nothrow_default_constructible_v<Lock> && std::is_trivially_destructible_v<Lock>;
}
static_assert(is_plain<lockwright::mutex, lw_mutex_t>());
static_assert(is_plain<lockwright::condition_variable, lw_cond_t>());
static_assert(is_plain<lockwright::shared_mutex, lw_rwlock_t>());
static_assert(is_plain<lockwright::percpu_shared_mutex, lw_percpu_rwlock_t>());
static_assert(is_plain<lockwright::rwsem, lw_rwsem_t>());
static_assert(is_plain<lockwright::spinlock, lw_spinlock_t>());
static_assert(is_plain<lockwright::cna_spinlock, lw_cna_spinlock_t>());
static_assert(is_plain<lockwright::semaphore, lw_semaphore_t>());

// Ready before any code of the program runs.
static constexpr lockwright::semaphore constant(3);
static lockwright::mutex first;
static lockwright::shared_mutex second;

// As fast as time by that ratio.
template <class Ratio> struct other_clock {
    using rep = long long;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<other_clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept
    {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return time_point(std::chrono::duration_cast<duration>(now) * Ratio::num / Ratio::den);
    }
};
using fast_clock = other_clock<std::ratio<10>>;
using slow_clock = other_clock<std::ratio<1, 10>>;

// Runs `attempt` in another thread.
template <class Attempt> static bool elsewhere(Attempt attempt)
{
    bool result = false;
    std::thread([&] { result = attempt(); }).join();
    return result;
}

// `until(time)` cannot succeed. It may not end before the time.
template <class Clock, class Until> static void comes_late(Until until)
{
    const auto time = Clock::now() + 10ms;
    IS(!elsewhere([&] { return until(time); }));
    IS(Clock::now() >= time);
}

template <class For, class Until> static void times_out(For wait, Until until)
{
    comes_late<std::chrono::steady_clock>(until);
    comes_late<std::chrono::system_clock>(until);
    comes_late<fast_clock>(until);
    IS(!elsewhere([&] { return until(std::chrono::steady_clock::time_point::min()); }));
    IS(!elsewhere([&] { return wait(5ms); }));
    IS(!elsewhere([&] { return wait(std::chrono::duration<double>(0.005)); }));
    IS(!elsewhere([&] { return wait(std::chrono::duration<int, std::ratio<1, 7>>(0)); }));
    IS(!elsewhere([&] { return wait(-std::chrono::hours(1)); }));
    IS(!elsewhere([&] { return wait(std::chrono::hours::min()); }));
}

// They can succeed, after which `undo` is right.
template <class For, class Until, class Undo> static void succeeds(For wait, Until until, Undo undo)
{
    const auto far = std::chrono::time_point<std::chrono::system_clock, std::chrono::hours>::max();
    IS(until(std::chrono::steady_clock::time_point::min()) && (undo(), true));
    IS(until(std::chrono::steady_clock::time_point::max()) && (undo(), true));
    IS(until(far) && (undo(), true));
    IS(until(fast_clock::now() + 10s) && (undo(), true));
    IS(wait(std::chrono::hours::max()) && (undo(), true));
    IS(wait(std::chrono::duration<double>(std::numeric_limits<double>::infinity())) && (undo(), true));
    IS(wait(0s) && (undo(), true));
}

template <class Lock> static void timed_lockable(Lock &lock)
{
    const auto wait = [&](auto duration) { return lock.try_lock_for(duration); };
    const auto until = [&](auto time) { return lock.try_lock_until(time); };
    succeeds(wait, until, [&] { lock.unlock(); });
    {
        std::lock_guard guard(lock);
        IS(!elsewhere([&] { return lock.try_lock(); }));
        times_out(wait, until);
        std::unique_lock<Lock> deferred(lock, std::defer_lock);
        IS(!elsewhere([&] { return deferred.try_lock_for(1ms); }) && !deferred);
    }
    std::unique_lock<Lock> guard(lock, 1s);
    IS(guard.owns_lock());
    guard.unlock();
    IS(guard.try_lock());
}

template <class Lock> static void shared_timed_lockable(Lock &lock)
{
    timed_lockable(lock);
    const auto wait = [&](auto duration) { return lock.try_lock_shared_for(duration); };
    const auto until = [&](auto time) { return lock.try_lock_shared_until(time); };
    succeeds(wait, until, [&] { lock.unlock_shared(); });
    {
        std::shared_lock<Lock> one(lock);
        IS(elsewhere([&] { return std::shared_lock<Lock>(lock, std::try_to_lock).owns_lock(); }));
        IS(!elsewhere([&] { return lock.try_lock_for(1ms); }));
    }
    lock.lock();
    times_out(wait, until);
    lock.downgrade();
    IS(elsewhere([&] { return lock.try_lock_shared() && (lock.unlock_shared(), true); }));
    lock.unlock_shared();
}

static void upgrades()
{
    lockwright::shared_mutex lock;
    const auto wait = [&](auto duration) { return lock.try_lock_upgradable_for(duration); };
    const auto until = [&](auto time) { return lock.try_lock_upgradable_until(time); };
    succeeds(wait, until, [&] { lock.unlock_upgradable(); });
    lock.lock_upgradable();
    times_out(wait, until);
    IS(!lock.try_lock_upgradable());
    const auto upgrade_for = [&](auto duration) { return lock.try_upgrade_for(duration); };
    const auto upgrade_until = [&](auto time) { return lock.try_upgrade_until(time); };
    succeeds(upgrade_for, upgrade_until, [&] { lock.downgrade_to_upgradable(); });
    lock.lock_shared_again();
    times_out(upgrade_for, upgrade_until);
    IS(!lock.try_upgrade());
    lock.unlock_shared_fair();
    lock.upgrade();
    lock.downgrade_to_upgradable();
    lock.downgrade_upgradable();
    lock.unlock_shared();
    lock.lock();
    lock.unlock_fair();
    IS(lock.native_handle()->lw_private[0] == 0);
}

static void semaphores()
{
    lockwright::semaphore semaphore(2);
    IS(constant.available() == 3 && lockwright::semaphore().available() == 0);
    const auto wait = [&](auto duration) { return semaphore.try_acquire_for(duration, 2); };
    const auto until = [&](auto time) { return semaphore.try_acquire_until(time, 2); };
    succeeds(wait, until, [&] { semaphore.release(2); });
    semaphore.acquire();
    times_out(wait, until);
    IS(semaphore.try_acquire() && !semaphore.try_acquire());
    IS(semaphore.release(semaphore.max_permits) && !semaphore.release());
}

static void condition_variables()
{
    lockwright::condition_variable changed;
    int turn = 0;
    std::unique_lock lock(first);
    IS(changed.wait_for(lock, 5ms) == std::cv_status::timeout);
    IS(changed.wait_until(lock, std::chrono::system_clock::now() - 1s) == std::cv_status::timeout);
    IS(changed.wait_until(lock, fast_clock::now() + 50ms) == std::cv_status::timeout);
    // It looks once, since the lock was released meanwhile. With a condition it waits until the time.
    IS(changed.wait_until(lock, slow_clock::now() + 5ms) == std::cv_status::no_timeout);
    const auto slow = slow_clock::now() + 2ms;
    IS(!changed.wait_until(lock, slow, [] { return false; }) && slow_clock::now() >= slow);
    IS(!changed.wait_for(lock, 5ms, [] { return false; }) && lock.owns_lock());
    IS(!changed.wait_for(lock, std::chrono::hours::min(), [] { return false; }));
    IS(!changed.wait_until(lock, std::chrono::steady_clock::now() + 5ms, [] { return false; }));
    IS(!elsewhere([&] { return first.try_lock(); }));
    std::thread other([&] {
        std::unique_lock lock(first);
        for (int round = 0; round < 1000; round++) {
            changed.wait(lock, [&] { return turn % 2 == 1; });
            turn++;
            changed.notify_all();
        }
    });
    for (int round = 0; round < 1000; round++) {
        turn++;
        changed.notify_one();
        IS(changed.wait_for(lock, std::chrono::hours::max(), [&] { return turn % 2 == 0; }));
    }
    lock.unlock();
    other.join();
    IS(turn == 2000);
}

// Two threads take turns by a condition variable of the standard.
template <class Guard, class Lock> static void any(Lock &lock)
{
    std::condition_variable_any changed;
    int turn = 0;
    const auto play = [&](int mine) {
        for (int round = 0; round < 200; round++) {
            {
                Guard guard(lock);
                changed.wait(guard, [&] { return turn % 2 == mine; });
            }
            std::unique_lock<Lock> writer(lock);
            turn++;
            writer.unlock();
            changed.notify_all();
        }
    };
    std::thread other([&] { play(1); });
    play(0);
    other.join();
    IS(turn == 400);
}

// Two locks in both orders.
static void scoped_locks()
{
    long sum = 0;
    std::vector<std::thread> threads;
    for (int at = 0; at < 4; at++)
        threads.emplace_back([&, at] {
            for (int round = 0; round < 5000; round++)
                if (at % 2 == 0) {
                    std::scoped_lock lock(first, second);
                    sum++;
                } else {
                    std::scoped_lock lock(second, first);
                    sum++;
                }
        });
    for (auto &thread : threads)
        thread.join();
    IS(sum == 20000);
}

int main()
{
    timed_lockable(first);
    first.lock();
    first.unlock_fair();
    lockwright::spinlock spinlock;
    timed_lockable(spinlock);
    lockwright::cna_spinlock cna_spinlock;
    timed_lockable(cna_spinlock);
    shared_timed_lockable(second);
    lockwright::percpu_shared_mutex percpu;
    shared_timed_lockable(percpu);
    lockwright::rwsem rwsem;
    shared_timed_lockable(rwsem);
    upgrades();
    semaphores();
    condition_variables();
    any<std::unique_lock<lockwright::mutex>>(first);
    any<std::shared_lock<lockwright::shared_mutex>>(second);
    any<std::shared_lock<lockwright::percpu_shared_mutex>>(percpu);
    any<std::unique_lock<lockwright::rwsem>>(rwsem);
    scoped_locks();
    std::puts(failures == 0 ? "all is as it should be" : "failed");
    return failures != 0;
}
