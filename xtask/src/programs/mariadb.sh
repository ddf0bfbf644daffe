# A server in a folder of its own, without a port, under a load that changes and reads its tables; then a check of these.
# LIBRARY is what the server is started with, or empty; the folder is the working directory. Prints what sysbench says.
set -eu
data=$PWD/data socket=$PWD/socket
mariadb-install-db --no-defaults --datadir="$data" --auth-root-authentication-method=normal \
    --skip-test-db --user="$(id -un)" >install.log 2>&1
LD_PRELOAD="$LIBRARY" mariadbd --no-defaults --datadir="$data" --socket="$socket" --skip-networking \
    --pid-file="$PWD/pid" --user="$(id -un)" >server.log 2>&1 &
server=$!
trap 'kill -9 $server 2>/dev/null || true' EXIT
tries=0
until mariadb-admin --no-defaults --socket="$socket" --user=root ping >/dev/null 2>&1; do
    tries=$((tries + 1))
    test $tries -lt 300
    kill -0 $server
    sleep 0.1
done
grep -q "liblockwright-pthread" /proc/$server/maps || test -z "$LIBRARY"
mariadb --no-defaults --socket="$socket" --user=root --execute="create database sbtest"
load() {
    sysbench oltp_read_write --db-driver=mysql --mysql-socket="$socket" --mysql-user=root --tables=4 \
        --table-size=5000 --threads=16 --percentile=99 --time="$SECONDS_OF_LOAD" "$@"
}
load prepare >prepare.log 2>&1
load run
# A client that is killed in the middle of its work leaves the tables as they have to be.
load run >/dev/null 2>&1 &
client=$!
sleep 1
kill -9 $client
wait $client || true
mariadb-check --no-defaults --socket="$socket" --user=root --check --extended sbtest
mariadb-admin --no-defaults --socket="$socket" --user=root shutdown
wait $server
trap - EXIT
