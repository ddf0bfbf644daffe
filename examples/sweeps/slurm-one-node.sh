#!/bin/sh
# Starts a Slurm of one node for trying slurm.sh out, and stops it. Not for anything else: it runs as root.
#   apt-get install munge slurmctld slurmd slurm-client
#   slurm-one-node.sh start FOLDER; export SLURM_CONF=FOLDER/slurm.conf; ...; slurm-one-node.sh stop FOLDER
set -eu
what=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
export SLURM_CONF="$folder/slurm.conf"

stop() {
    for daemon in slurmd slurmctld munged; do
        test ! -f "$folder/$daemon.pid" || kill "$(cat "$folder/$daemon.pid")" 2>/dev/null || true
    done
}

case $what in
stop)
    stop
    exit
    ;;
start) ;;
*)
    echo "write: slurm-one-node.sh start FOLDER, or stop FOLDER" >&2
    exit 2
    ;;
esac

chmod 755 "$folder"
mkdir -p "$folder/state" "$folder/spool"
dd if=/dev/urandom of="$folder/munge.key" bs=128 count=1 2>/dev/null
chmod 400 "$folder/munge.key"
cat >"$SLURM_CONF" <<END
ClusterName=trial
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
ReturnToService=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
# By force, because munge dislikes keys in folders such as /tmp.
munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/munged.seed"
slurmctld -c
slurmd
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    if sinfo --noheader --states=idle | grep -q .; then
        sinfo
        exit
    fi
    sleep 1
done
echo "no node became idle; see the logs in $folder" >&2
stop
exit 1
