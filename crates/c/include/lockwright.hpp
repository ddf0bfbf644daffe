/*
 * lockwright.hpp: the locks of Lockwright, for C++17 or later. Header only, on lockwright.h, which says what each lock
 * orders, how long a thread can be overtaken, and what is wrong use.
 *
 * The names of the functions are those of the standard, so std::unique_lock, std::scoped_lock, std::shared_lock and
 * std::condition_variable_any work with these types. An object without initialiser is unlocked, also before any code
 * of the program runs. It cannot be copied or moved. No function throws.
 *
 *   lockwright::mutex                 TimedLockable        lw_mutex_t
 *   lockwright::condition_variable    for mutex            lw_cond_t
 *   lockwright::shared_mutex          SharedTimedLockable  lw_rwlock_t
 *   lockwright::percpu_shared_mutex   SharedTimedLockable  lw_percpu_rwlock_t
 *   lockwright::rwsem                 SharedTimedLockable  lw_rwsem_t
 *   lockwright::spinlock              TimedLockable        lw_spinlock_t
 *   lockwright::cna_spinlock          TimedLockable        lw_cna_spinlock_t
 *   lockwright::semaphore                                  lw_semaphore_t
 *
 * A time of std::chrono::system_clock is one of CLOCK_REALTIME, one of std::chrono::steady_clock one of
 * CLOCK_MONOTONIC. A time of another clock is looked at again when a wait for it has ended.
 */
#ifndef LOCKWRIGHT_HPP
#define LOCKWRIGHT_HPP

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <type_traits>

#include "lockwright.h"

namespace lockwright {

namespace detail {

/* Longer than any process runs: 95 years in seconds. */
constexpr long long far_s = 3000000000;

template <class Rep, class Period> bool is_far(const std::chrono::duration<Rep, Period> &duration) noexcept
{
    /* Also if it is not a number. */
    return !(std::chrono::duration<long double>(duration).count() < static_cast<long double>(far_s));
}

/* A time since the beginning of a clock, rounded up. */
template <class Rep, class Period> timespec timespec_of(const std::chrono::duration<Rep, Period> &since) noexcept
{
    timespec result = {};
    if (since <= since.zero())
        return result;
    using seconds = std::chrono::duration<long double>;
    /* The date is some decades behind 1970. */
    if (!(seconds(since).count() < 2.0L * static_cast<long double>(far_s))) {
        result.tv_sec = static_cast<std::time_t>(2 * far_s);
        return result;
    }
    const auto whole = std::chrono::floor<std::chrono::seconds>(since);
    const auto rest = std::chrono::ceil<std::chrono::nanoseconds>(since - whole).count();
    result.tv_sec = static_cast<std::time_t>(whole.count() + rest / 1000000000);
    result.tv_nsec = static_cast<long>(rest % 1000000000);
    return result;
}

/* Calls `until(clock, deadline)`, which returns 0 or ETIMEDOUT, with a deadline. */
template <class Duration, class Until>
bool take_until(const std::chrono::time_point<std::chrono::steady_clock, Duration> &time, Until until) noexcept
{
    const timespec deadline = timespec_of(time.time_since_epoch());
    return until(CLOCK_MONOTONIC, &deadline) == 0;
}

template <class Duration, class Until>
bool take_until(const std::chrono::time_point<std::chrono::system_clock, Duration> &time, Until until) noexcept
{
    const timespec deadline = timespec_of(time.time_since_epoch());
    return until(CLOCK_REALTIME, &deadline) == 0;
}

/* The time at which a duration that begins now is over. */
template <class Rep, class Period>
std::chrono::steady_clock::time_point end_of(const std::chrono::duration<Rep, Period> &duration) noexcept
{
    using clock = std::chrono::steady_clock;
    auto wait = clock::duration::zero();
    if (is_far(duration))
        wait = std::chrono::seconds(far_s);
    else if (duration > duration.zero())
        wait = std::chrono::ceil<clock::duration>(duration);
    return clock::now() + wait;
}

/* As take_until, that long from now. */
template <class Rep, class Period, class Until>
bool take_for(const std::chrono::duration<Rep, Period> &duration, Until until) noexcept
{
    return take_until(end_of(duration), until);
}

/* Another clock. */
template <class Clock, class Duration, class Until>
bool take_until(const std::chrono::time_point<Clock, Duration> &time, Until until) noexcept
{
    do {
        if (take_for(time - Clock::now(), until))
            return true;
    } while (Clock::now() < time);
    return false;
}

template <class Raw> using plain = void (*)(Raw *);
template <class Raw> using attempt = int (*)(Raw *);
template <class Raw> using timed = int (*)(Raw *, int, const timespec *);

/* A lock with one owner, of the functions of the library. */
template <class Raw, plain<Raw> Lock, attempt<Raw> TryLock, timed<Raw> LockUntil, plain<Raw> Unlock> class exclusive {
public:
    using native_handle_type = Raw *;

    constexpr exclusive() noexcept = default;
    exclusive(const exclusive &) = delete;
    exclusive &operator=(const exclusive &) = delete;

    void lock() noexcept { Lock(&raw); }
    [[nodiscard]] bool try_lock() noexcept { return TryLock(&raw) == 0; }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period> &duration) noexcept
    {
        return take_for(duration, [this](int clock, const timespec *at) { return LockUntil(&raw, clock, at); });
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time) noexcept
    {
        return take_until(time, [this](int clock, const timespec *at) { return LockUntil(&raw, clock, at); });
    }
    void unlock() noexcept { Unlock(&raw); }
    native_handle_type native_handle() noexcept { return &raw; }

protected:
    Raw raw = {};
};

/* A lock with one writer or many readers. */
template <class Exclusive, class Raw, plain<Raw> Lock, attempt<Raw> TryLock, timed<Raw> LockUntil, plain<Raw> Unlock,
          plain<Raw> Downgrade>
class shared : public Exclusive {
public:
    constexpr shared() noexcept = default;

    void lock_shared() noexcept { Lock(&this->raw); }
    [[nodiscard]] bool try_lock_shared() noexcept { return TryLock(&this->raw) == 0; }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &duration) noexcept
    {
        return take_for(duration, [this](int clock, const timespec *at) { return LockUntil(&this->raw, clock, at); });
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &time) noexcept
    {
        return take_until(time, [this](int clock, const timespec *at) { return LockUntil(&this->raw, clock, at); });
    }
    void unlock_shared() noexcept { Unlock(&this->raw); }
    /* The writer goes on as a reader; no thread writes in between. */
    void downgrade() noexcept { Downgrade(&this->raw); }
};

} // namespace detail

class mutex
    : public detail::exclusive<lw_mutex_t, lw_mutex_lock, lw_mutex_try_lock, lw_mutex_lock_until, lw_mutex_unlock> {
public:
    /* Unlocks for a thread that sleeps for the lock, if there is one. */
    void unlock_fair() noexcept { lw_mutex_unlock_fair(&raw); }
};

class spinlock : public detail::exclusive<lw_spinlock_t, lw_spinlock_lock, lw_spinlock_try_lock,
                                          lw_spinlock_lock_until, lw_spinlock_unlock> {};

class cna_spinlock : public detail::exclusive<lw_cna_spinlock_t, lw_cna_spinlock_lock, lw_cna_spinlock_try_lock,
                                              lw_cna_spinlock_lock_until, lw_cna_spinlock_unlock> {};

class percpu_shared_mutex
    : public detail::shared<
          detail::exclusive<lw_percpu_rwlock_t, lw_percpu_rwlock_lock, lw_percpu_rwlock_try_lock,
                            lw_percpu_rwlock_lock_until, lw_percpu_rwlock_unlock>,
          lw_percpu_rwlock_t, lw_percpu_rwlock_lock_shared, lw_percpu_rwlock_try_lock_shared,
          lw_percpu_rwlock_lock_shared_until, lw_percpu_rwlock_unlock_shared, lw_percpu_rwlock_downgrade> {};

class rwsem
    : public detail::shared<detail::exclusive<lw_rwsem_t, lw_rwsem_lock, lw_rwsem_try_lock, lw_rwsem_lock_until,
                                              lw_rwsem_unlock>,
                            lw_rwsem_t, lw_rwsem_lock_shared, lw_rwsem_try_lock_shared, lw_rwsem_lock_shared_until,
                            lw_rwsem_unlock_shared, lw_rwsem_downgrade> {};

class shared_mutex
    : public detail::shared<detail::exclusive<lw_rwlock_t, lw_rwlock_lock, lw_rwlock_try_lock, lw_rwlock_lock_until,
                                              lw_rwlock_unlock>,
                            lw_rwlock_t, lw_rwlock_lock_shared, lw_rwlock_try_lock_shared,
                            lw_rwlock_lock_shared_until, lw_rwlock_unlock_shared, lw_rwlock_downgrade> {
public:
    /* Unlock for the thread that has waited longest, if one sleeps. */
    void unlock_fair() noexcept { lw_rwlock_unlock_fair(&raw); }
    void unlock_shared_fair() noexcept { lw_rwlock_unlock_shared_fair(&raw); }
    /* For a thread that reads already: does not wait for writers that wait. */
    void lock_shared_again() noexcept { lw_rwlock_lock_shared_again(&raw); }

    /* The reader that may become the writer, of which there is one at a time. */
    void lock_upgradable() noexcept { lw_rwlock_lock_upgradable(&raw); }
    [[nodiscard]] bool try_lock_upgradable() noexcept { return lw_rwlock_try_lock_upgradable(&raw) == 0; }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_upgradable_for(const std::chrono::duration<Rep, Period> &duration) noexcept
    {
        return detail::take_for(duration, [this](int clock, const timespec *at) {
            return lw_rwlock_lock_upgradable_until(&raw, clock, at);
        });
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_upgradable_until(const std::chrono::time_point<Clock, Duration> &time) noexcept
    {
        return detail::take_until(time, [this](int clock, const timespec *at) {
            return lw_rwlock_lock_upgradable_until(&raw, clock, at);
        });
    }
    void unlock_upgradable() noexcept { lw_rwlock_unlock_upgradable(&raw); }
    /* Waits for the other readers; no thread writes in between. */
    void upgrade() noexcept { lw_rwlock_upgrade(&raw); }
    [[nodiscard]] bool try_upgrade() noexcept { return lw_rwlock_try_upgrade(&raw) == 0; }
    template <class Rep, class Period>
    [[nodiscard]] bool try_upgrade_for(const std::chrono::duration<Rep, Period> &duration) noexcept
    {
        return detail::take_for(duration, [this](int clock, const timespec *at) {
            return lw_rwlock_upgrade_until(&raw, clock, at);
        });
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_upgrade_until(const std::chrono::time_point<Clock, Duration> &time) noexcept
    {
        return detail::take_until(time, [this](int clock, const timespec *at) {
            return lw_rwlock_upgrade_until(&raw, clock, at);
        });
    }
    void downgrade_upgradable() noexcept { lw_rwlock_downgrade_upgradable(&raw); }
    void downgrade_to_upgradable() noexcept { lw_rwlock_downgrade_to_upgradable(&raw); }
};

/*
 * For lockwright::mutex. With another lock, use std::condition_variable_any. Unlike std::condition_variable, it must not
 * be destroyed before all waits have returned: it is not enough that all threads were notified.
 */
class condition_variable {
    auto waiter(std::unique_lock<mutex> &lock) noexcept
    {
        return [this, &lock](int clock, const timespec *at) {
            return lw_cond_wait_until(&raw, lock.mutex()->native_handle(), clock, at);
        };
    }
    static std::cv_status status(bool is_notified) noexcept
    {
        return is_notified ? std::cv_status::no_timeout : std::cv_status::timeout;
    }

    lw_cond_t raw = {};

public:
    using native_handle_type = lw_cond_t *;

    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;

    void notify_one() noexcept { lw_cond_signal(&raw); }
    void notify_all() noexcept { lw_cond_broadcast(&raw); }

    void wait(std::unique_lock<mutex> &lock) noexcept { lw_cond_wait(&raw, lock.mutex()->native_handle()); }
    template <class Predicate> void wait(std::unique_lock<mutex> &lock, Predicate predicate)
    {
        while (!predicate())
            wait(lock);
    }
    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &time)
    {
        using clock = std::chrono::steady_clock;
        if constexpr (std::is_same_v<Clock, clock> || std::is_same_v<Clock, std::chrono::system_clock>)
            return status(detail::take_until(time, waiter(lock)));
        /* A thread that waited twice could miss what was notified in between: the caller has to look. */
        return status(detail::take_for(time - Clock::now(), waiter(lock)) || Clock::now() < time);
    }
    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &time,
                    Predicate predicate)
    {
        while (!predicate())
            if (wait_until(lock, time) == std::cv_status::timeout)
                return predicate();
        return true;
    }
    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &duration)
    {
        return status(detail::take_for(duration, waiter(lock)));
    }
    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &duration,
                  Predicate predicate)
    {
        return wait_until(lock, detail::end_of(duration), predicate);
    }
    native_handle_type native_handle() noexcept { return &raw; }
};

class semaphore {
public:
    using native_handle_type = lw_semaphore_t *;
    static constexpr unsigned max_permits = LW_SEMAPHORE_MAX;

    /* At most max_permits. */
    constexpr explicit semaphore(unsigned permits = 0) noexcept : raw{{permits}} {}
    semaphore(const semaphore &) = delete;
    semaphore &operator=(const semaphore &) = delete;

    void acquire(unsigned permits = 1) noexcept { lw_semaphore_acquire(&raw, permits); }
    [[nodiscard]] bool try_acquire(unsigned permits = 1) noexcept
    {
        return lw_semaphore_try_acquire(&raw, permits) == 0;
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period> &duration,
                                       unsigned permits = 1) noexcept
    {
        return detail::take_for(duration, [this, permits](int clock, const timespec *at) {
            return lw_semaphore_acquire_until(&raw, permits, clock, at);
        });
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &time,
                                         unsigned permits = 1) noexcept
    {
        return detail::take_until(time, [this, permits](int clock, const timespec *at) {
            return lw_semaphore_acquire_until(&raw, permits, clock, at);
        });
    }
    /* Returns false, and adds none, if there would be more than max_permits. */
    bool release(unsigned permits = 1) noexcept { return lw_semaphore_release(&raw, permits) == 0; }
    unsigned available() const noexcept { return lw_semaphore_available(&raw); }
    native_handle_type native_handle() noexcept { return &raw; }

private:
    lw_semaphore_t raw;
};

} // namespace lockwright

#endif
