# Threads of Java that wait for each other and for the collector.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat >"$folder/Main.java" <<'PROGRAM'
import java.util.concurrent.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        var threads = Executors.newFixedThreadPool(16);
        var sums = new ConcurrentHashMap<Integer, Long>();
        var queue = new ArrayBlockingQueue<byte[]>(4);
        var tasks = new CountDownLatch(64);
        for (int i = 0; i < 32; i++) {
            threads.submit(() -> {
                for (int j = 0; j < 2000; j++) {
                    queue.put(new byte[1000]);
                }
                tasks.countDown();
                return null;
            });
            threads.submit(() -> {
                for (int j = 0; j < 2000; j++) {
                    sums.merge(j % 7, (long) queue.take().length, Long::sum);
                }
                tasks.countDown();
                return null;
            });
        }
        tasks.await();
        threads.shutdown();
        long sum = sums.values().stream().mapToLong(Long::longValue).sum();
        System.out.println(sum == 32L * 2000 * 1000 ? "all there" : "lost");
    }
}
PROGRAM
java "$folder/Main.java"
