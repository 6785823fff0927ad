"""A real Slurm on this machine for a test: munged, slurmctld and slurmd of its own, on loopback, in a temporary folder.

It needs Debian's packages slurm-wlm and munge, no service manager, and no configuration outside of the folder. Daemons
are stopped when the `with` block ends, whatever happened in it.
"""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

# One node of two processors, whatever the machine has. Jobs of the partition `urgent` preempt those of `all`, which
# are requeued. Credentials expire soon: a requeued job waits until its last one has.
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmdParameters=config_overrides
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10
"""
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "sinfo")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


def missing_programs() -> list[str]:
    return [program for program in PROGRAMS if not shutil.which(program, path=PATH)]


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    def __init__(self, folder: Path):
        self.folder = folder
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": PATH}
        for name in [name for name in self.environment if name.startswith(("SLURM_", "SBATCH_")) and name != "SLURM_CONF"]:
            del self.environment[name]  # the test itself may run under another Slurm
        self.daemons: list[subprocess.Popen] = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self) -> None:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, user=getpass.getuser(), folder=self.folder, ports=free_ports(2)))
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(1024))
        self.daemon("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={key}",
                    f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                    f"--seed-file={self.folder}/munged.seed")
        self.wait_until(lambda: (self.folder / "munge.socket").exists(), 20, "munged does not start")
        self.daemon("slurmctld", "-D", "-f", str(self.folder / "slurm.conf"))
        self.daemon("slurmd", "-D", "-N", host, "-f", str(self.folder / "slurm.conf"))
        self.wait_until(lambda: "idle" in self.call("sinfo", "-h", "-o", "%T", check=False), 60, "no node becomes idle")

    def daemon(self, *command: str) -> None:
        with open(self.folder / f"{command[0]}.out", "wb") as log:
            self.daemons.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                 env=self.environment, start_new_session=True))

    def stop(self) -> None:
        """Jobs first, then the daemons, the last one started first; what does not listen is killed with its jobs."""
        if len(self.daemons) == 3:
            subprocess.run(["scancel", "--user", getpass.getuser()], env=self.environment, timeout=20, check=False,
                           capture_output=True)
            deadline = time.monotonic() + 10
            while self.call("squeue", "-h", check=False).strip() and time.monotonic() < deadline:
                time.sleep(0.2)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(daemon.pid, signal.SIGKILL)
                daemon.wait()
        self.daemons = []

    def call(self, *command: str, check: bool = True) -> str:
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=30,
                              stdin=subprocess.DEVNULL)
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def jobs(self) -> dict[str, str]:
        """States of the jobs that are not over, by id; tasks of arrays as 7_1."""
        lines = self.call("squeue", "-h", "-r", "-o", "%i %T").splitlines()
        return dict(line.split() for line in lines)

    def wait_until(self, condition, seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} within {seconds:.0f} s\n{self.logs()}")
            time.sleep(0.1)

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-1500:]}"
                         for path in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")))
