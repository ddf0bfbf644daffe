// A cache: readers share a lock, and a thread that has to wait for an entry waits on a std::condition_variable_any.
#include <lockwright.hpp>

#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

class cache {
public:
    // Waits until another thread has stored the entry.
    std::string await(int number)
    {
        std::shared_lock lock(mutex);
        stored.wait(lock, [&] { return entries.count(number) == 1; });
        return entries[number];
    }
    void store(int number)
    {
        {
            std::unique_lock lock(mutex);
            entries[number] = "entry " + std::to_string(number);
        }
        stored.notify_all();
    }

private:
    lockwright::shared_mutex mutex;
    std::condition_variable_any stored;
    std::map<int, std::string> entries;
};

int main()
{
    cache cache;
    std::vector<std::thread> threads;
    lockwright::semaphore right;
    for (int at = 0; at < 4; at++)
        threads.emplace_back([&] {
            for (int number = 0; number < 200; number++)
                if (cache.await(number) == "entry " + std::to_string(number))
                    right.release();
        });
    for (int number = 0; number < 200; number++)
        cache.store(number);
    for (auto &thread : threads)
        thread.join();
    std::cout << right.available() << " of 800 are right\n";
}
