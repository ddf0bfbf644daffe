# memcached on a socket of its own, under a load that checks every answer. Both have the locks of LD_PRELOAD.
set -eu
folder=$(mktemp -d)
socket=$folder/socket
memcached -u "$(id -un)" -s "$socket" -t 4 -m 64 &
server=$!
trap 'kill -9 $server 2>/dev/null || true; rm -r "$folder"' EXIT
tries=0
until test -S "$socket"; do
    tries=$((tries + 1))
    test $tries -lt 100
    sleep 0.1
done
grep -q "liblockwright-pthread" /proc/$server/maps || test -z "${LD_PRELOAD:-}"
python3 - "$socket" <<'LOAD'
import socket, sys, threading

CLIENTS, ROUNDS, SHARED = 16, 1500, 20
wrong = []

def talk(number):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    stream = connection.makefile("rwb")

    def ask(text):
        stream.write(text)
        stream.flush()
        return stream.readline()

    for i in range(ROUNDS):
        key, value = b"own%d.%d" % (number, i % 50), b"%d" % (i * number)
        if ask(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value)) != b"STORED\r\n":
            wrong.append("set")
        if not ask(b"get %s\r\n" % key).startswith(b"VALUE ") or stream.readline() != value + b"\r\n":
            wrong.append("get")
        if stream.readline() != b"END\r\n":
            wrong.append("end")
        ask(b"incr shared%d 1\r\n" % (i % SHARED))
    connection.close()

def total():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    stream = connection.makefile("rwb")
    sum = 0
    for i in range(SHARED):
        stream.write(b"get shared%d\r\n" % i)
        stream.flush()
        stream.readline()
        sum += int(stream.readline())
        stream.readline()
    return sum

first = socket.socket(socket.AF_UNIX)
first.connect(sys.argv[1])
for i in range(SHARED):
    first.sendall(b"set shared%d 0 0 1\r\n0\r\n" % i)
    first.recv(100)
threads = [threading.Thread(target=talk, args=(number,)) for number in range(CLIENTS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if total() != CLIENTS * ROUNDS:
    wrong.append("increments are lost")
sys.exit(f"wrong: {set(wrong)}" if wrong else 0)
LOAD
kill -TERM $server
wait $server
echo every answer is right
