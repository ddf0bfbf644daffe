// A bounded queue between threads, with the guards of the standard library.
#include <lockwright.hpp>

#include <deque>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

template <class T> class bounded_queue {
public:
    explicit bounded_queue(std::size_t capacity) : places(capacity) {}

    void put(T message)
    {
        std::unique_lock lock(mutex);
        not_full.wait(lock, [this] { return messages.size() < places; });
        messages.push_back(std::move(message));
        lock.unlock();
        not_empty.notify_one();
    }
    T take()
    {
        std::unique_lock lock(mutex);
        not_empty.wait(lock, [this] { return !messages.empty(); });
        T message = std::move(messages.front());
        messages.pop_front();
        lock.unlock();
        not_full.notify_one();
        return message;
    }

private:
    const std::size_t places;
    std::deque<T> messages;
    lockwright::mutex mutex;
    lockwright::condition_variable not_empty, not_full;
};

int main()
{
    bounded_queue<long> queue(16);
    lockwright::mutex sum_mutex;
    long sum = 0;
    std::vector<std::thread> producers, consumers;
    for (int at = 0; at < 2; at++)
        consumers.emplace_back([&] {
            while (long message = queue.take()) {
                std::scoped_lock lock(sum_mutex);
                sum += message;
            }
        });
    for (int at = 0; at < 3; at++)
        producers.emplace_back([&] {
            for (long message = 1; message <= 20000; message++)
                queue.put(message);
        });
    for (auto &thread : producers)
        thread.join();
    for (std::size_t at = 0; at < consumers.size(); at++)
        queue.put(0);
    for (auto &thread : consumers)
        thread.join();
    std::cout << "sum of 60000 messages: " << sum << "\n";
}
