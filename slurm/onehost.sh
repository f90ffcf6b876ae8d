#!/usr/bin/env bash
# A real Slurm of several nodes on one machine, for tests:
#   onehost.sh up <directory> [nodes] [GPUs per node] [file of more lines for slurm.conf]
#   onehost.sh env|down <directory>
#   onehost.sh start|kill <directory> <node>     a node fails, and comes back
# Each node is a slurmd in its own mount and UTS namespaces, with its own host name, /dev/shm and
# TmpFS, so ranks on two nodes see two machines. Needs root, slurm-wlm, munge and a <directory> that
# the user munge may enter. Uses no systemd, no cgroups and no file outside <directory>.
set -Eeuo pipefail

cpus_per_node=4

usage="usage: onehost.sh up|env|down <directory> | start|kill <directory> <node> (more in its first lines)"
command=${1:?$usage}
root=$(readlink -m "${2:?$usage}")
node_count=${3:-2}
gpus_per_node=${4:-2}
more_config=${5:-/dev/null}
export SLURM_CONF=$root/etc/slurm.conf

end_daemon() {
  local pid
  pid=$(cat "$1" 2>/dev/null) && kill "$pid" 2>/dev/null || return 0
  for _ in {1..50}; do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null || true
}

down() {
  local pid_file
  for pid_file in "$root"/run/slurmd.*.pid "$root"/run/slurmctld.pid "$root"/munge/munged.pid; do
    end_daemon "$pid_file"
  done
  rm -rf "$root"
}

# Keeps Open MPI from using the interfaces of the shared kernel as a network between the nodes.
print_environment() {
  cat <<TEXT
export SLURM_CONF=$SLURM_CONF
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,vader,self
export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
TEXT
}

start_munge() {
  mkdir "$root/munge"
  head -c 1024 /dev/urandom >"$root/munge/munge.key"
  chmod 600 "$root/munge/munge.key"
  chown -R munge:munge "$root/munge"
  setpriv --reuid=munge --regid=munge --clear-groups munged --force \
    --key-file="$root/munge/munge.key" --socket="$root/munge/munge.sock" \
    --pid-file="$root/munge/munged.pid" --log-file="$root/munge/munged.log" \
    --seed-file="$root/munge/seed"
}

# Finds free ports above the registered ones, since several such clusters may run at the same time.
pick_ports() {
  local first
  for _ in {1..20}; do
    first=$((20000 + RANDOM % 10000))
    for ((port = first; port <= first + node_count; port++)); do
      (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue 2
    done
    echo "$first"
    return
  done
  return 1
}

write_config() {
  local port=$1 host
  host=$(uname -n)
  # Slurm counts GPUs by different device files; these behave like /dev/null.
  mkdir "$root/dev"
  for ((gpu = 0; gpu < gpus_per_node; gpu++)); do
    mknod "$root/dev/nvidia$gpu" c 1 3 2>/dev/null || : >"$root/dev/nvidia$gpu"
  done
  cat >"$SLURM_CONF" <<TEXT
ClusterName=onehost
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$root/munge/munge.sock
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool/%n
SlurmctldPidFile=$root/run/slurmctld.pid
SlurmdPidFile=$root/run/slurmd.%n.pid
SlurmctldLogFile=$root/log/slurmctld.log
SlurmdLogFile=$root/log/slurmd.%n.log
TmpFS=$root/tmpfs
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=1,sched_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=20
KillWait=5
GresTypes=gpu
NodeName=n[1-$node_count] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + node_count))] CPUs=$cpus_per_node Boards=1 SocketsPerBoard=1 CoresPerSocket=$cpus_per_node ThreadsPerCore=1 RealMemory=500 Gres=gpu:$gpus_per_node State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
TEXT
  cat "$more_config" >>"$SLURM_CONF"
  echo "NodeName=n[1-$node_count] Name=gpu File=$root/dev/nvidia[0-$((gpus_per_node - 1))]" \
    >"$root/etc/gres.conf"
}

start_node() {
  local node=$1
  rm -rf "$root/spool/$node" "$root/node_tmp/$node"  # a restarted node keeps no files
  mkdir -p "$root/spool/$node" "$root/node_tmp/$node"
  unshare --mount --uts --propagation private bash -c "
    hostname $node && mount -t tmpfs tmpfs /dev/shm &&
    mount --bind $root/node_tmp/$node $root/tmpfs && exec slurmd -f $SLURM_CONF -N $node"
}

# Prints the logs to stderr and removes everything.
give_up() {
  [[ ! -e $root/run/slurmctld.pid ]] || sinfo -N -o '%N %T %E' >&2 || true
  tail -n 20 "$root"/log/*.log "$root"/munge/*.log >&2 || true
  down
  echo "onehost.sh: the nodes did not come up (their logs stand above)" >&2
  exit 1
}

up() {
  [[ ! -e $root/etc ]] || { echo "onehost.sh: $root is in use; end it with down" >&2; exit 1; }
  trap give_up ERR
  mkdir -p "$root"/{etc,run,log,spool,state,tmpfs}
  chmod 755 "$root"  # slurmctld and munged need it to reach their sockets
  start_munge
  write_config "$(pick_ports)"
  slurmctld -f "$SLURM_CONF"
  for ((n = 1; n <= node_count; n++)); do
    start_node "n$n"
  done
  for _ in {1..60}; do
    [[ $(sinfo -h -N -t idle | wc -l) == "$node_count" ]] && return
    sleep 0.5
  done
  give_up
}

case $command in
  up) up ;;
  env) print_environment ;;
  start) start_node "${3:?$usage}" ;;
  kill) end_daemon "$root/run/slurmd.${3:?$usage}.pid" ;;
  down) down ;;
  *)
    echo "$usage" >&2
    exit 2
    ;;
esac
