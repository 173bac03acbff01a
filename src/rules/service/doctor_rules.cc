#include "rules/service/doctor_rules.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/wire/time.h"
#include "rules/retention/disk_marks.h"

namespace trainyard::service {

namespace {

using control::v1::Doctor;

constexpr std::int64_t kFreeWarningBytes = std::int64_t{10} << 30;
constexpr std::int64_t kFreeShareWarning = 10;  ///< warn below one part in this number
/// Each event of a job waits for one such write.
constexpr std::chrono::milliseconds kWriteTimeMax{20};
constexpr std::chrono::days kCertificateWarning{30};
/// Databases with a write-ahead log need shared memory and locks, which do not work reliably on these.
constexpr std::array<std::string_view, 6> kNetworkFileSystems = {"nfs", "cifs", "smb2", "fuse", "9p", "ceph"};

/// Collects rows; an essential one that is missing means that no job can run.
class Rows {
 public:
  Rows() { doctor_.set_can_run_jobs(true); }

  void Ok(const char* what, std::string detail) { Add(what, Doctor::OK, std::move(detail), ""); }
  void Warning(const char* what, std::string detail, std::string next) {
    Add(what, Doctor::WARNING, std::move(detail), std::move(next));
  }
  void Missing(const char* what, std::string detail, std::string next) {
    Add(what, Doctor::MISSING, std::move(detail), std::move(next));
  }
  void MissingForAll(const char* what, std::string detail, std::string next) {
    Missing(what, std::move(detail), std::move(next));
    doctor_.set_can_run_jobs(false);
  }
  Doctor Take() { return std::move(doctor_); }

 private:
  void Add(const char* what, Doctor::State state, std::string detail, std::string next) {
    Doctor::Row& row = *doctor_.add_rows();
    row.set_what(what);
    row.set_state(state);
    row.set_detail(std::move(detail));
    row.set_next(std::move(next));
  }
  Doctor doctor_;
};

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ", ") + word;
  return joined;
}

std::string Gigabytes(std::int64_t bytes) { return std::to_string(bytes >> 30) + " GiB"; }

void JudgeServer(const DoctorFacts& facts, Rows& rows) {
  if (facts.data_directory) {
    rows.Ok("data directory", facts.disk.folder);
  } else {
    rows.MissingForAll("data directory", facts.data_directory.error().message,
                       "name another one (--data), or run this as the account that owns it");
  }
  if (!facts.server_url.empty()) {
    rows.Ok("port", "a server has this data directory, at " + facts.server_url);
  } else if (facts.port) {
    rows.Ok("port", "free; no server runs with this data directory");
  } else {
    rows.Warning("port", facts.port.error().message,
                 "give the server another one: serve --listen 127.0.0.1:0");
  }
}

void JudgeNamespaces(const DoctorFacts& facts, Rows& rows) {
  const auto judge = [&rows](const char* what, const Status& tried, const char* works, const char* cost) {
    if (tried) {
      rows.Ok(what, works);
    } else {
      rows.Missing(what, std::string(cost) + ": " + tried.error().message,
                   "docs/your-machine.md says what to change; jobs run without it");
    }
  };
  judge(
      "user namespaces", facts.user_namespaces,
      facts.is_root ? "not needed: the server is root's" : "each replica gets its own view of the files",
      "TensorFlow's gs://, gsutil and /gcs do not work in replicas, and packages are not built in isolation");
  judge("root of its own", facts.own_root, "replicas see only a view of the machine's files",
        "replicas see the machine's files");
  judge("doors", facts.doors, "in replicas, Google's host names lead to this server without port 443",
        "in replicas, Google's host names need port 443");
  judge("networks", facts.isolated_networks, "replicas can have their own networks (--network isolated)",
        "--network isolated is rejected");
}

void JudgeLimits(const DoctorFacts& facts, Rows& rows) {
  const std::string version = facts.cgroup_version == 0
                                  ? "no cgroups for jobs"
                                  : "cgroup version " + std::to_string(facts.cgroup_version);
  if (facts.limits_lacking.empty()) {
    rows.Ok("cgroups", version + ": memory, CPUs and processes of replicas can be limited");
  } else {
    rows.Warning("cgroups", version + ": " + facts.limits_lacking,
                 "without these limits one job can use up the machine, and --capacity strict is rejected");
  }
  if (facts.logout_ends_jobs) {
    rows.Warning("lingering", facts.logout, "as root: loginctl enable-linger ACCOUNT");
  } else {
    rows.Ok("lingering",
            facts.logout.empty() ? "a logout does not end jobs: no session is involved" : facts.logout);
  }
}

void JudgePrograms(const DoctorFacts& facts, Rows& rows) {
  const std::string devices =
      facts.devices.empty() ? "none: jobs that ask for accelerators stay QUEUED" : Joined(facts.devices);
  if (facts.device_notes.empty()) {
    rows.Ok("accelerators", devices);
  } else {
    rows.Warning("accelerators", Joined(facts.device_notes) + "; found: " + devices,
                 "repair the driver, or declare them: serve --accelerators");
  }
  if (facts.containers.empty()) {
    rows.Missing("containers", "jobs with an image stay QUEUED: " + facts.containers_lacking,
                 "install crun and skopeo (apt install crun skopeo uidmap)");
  } else {
    rows.Ok("containers", facts.containers);
  }
  const bool has_default =
      std::ranges::find(facts.runtimes_ready, facts.default_runtime) != facts.runtimes_ready.end();
  const std::string pythons = "Python " + (facts.pythons.empty() ? "none" : Joined(facts.pythons)) +
                              "; runtime versions that run here: " +
                              (facts.runtimes_ready.empty() ? "none" : Joined(facts.runtimes_ready));
  const std::string next =
      "trainyard runtimes list shows which Python each version needs; trainyard runtimes install VERSION "
      "installs one";
  if (has_default) {
    rows.Ok("runtimes", pythons);
  } else if (!facts.runtimes_ready.empty()) {
    rows.Warning("runtimes", pythons + "; not the default, " + facts.default_runtime, next);
  } else if (!facts.containers.empty()) {
    rows.Missing("runtimes", pythons + ": only jobs with an image run", next);
  } else {
    rows.MissingForAll("runtimes", pythons, next);
  }
}

void JudgeDisk(const DoctorFacts& facts, Rows& rows) {
  const DoctorFacts::Disk& disk = facts.disk;
  const std::string room = Gigabytes(disk.free_bytes) + " of " + Gigabytes(disk.total_bytes) + " free";
  if (disk.free_bytes < retention::kRefuseBelowDefault) {
    rows.MissingForAll("disk space", room, "free some space: no job can be stored");
  } else if (disk.free_bytes < kFreeWarningBytes || disk.free_bytes < disk.total_bytes / kFreeShareWarning) {
    rows.Warning("disk space", room + ": an environment takes up to 5 GiB",
                 "trainyard runtimes list and images list show what can be removed");
  } else {
    rows.Ok("disk space", room);
  }
  if (disk.free_inodes >= 0 && disk.free_inodes < retention::kFreeInodesMin) {
    rows.MissingForAll("disk files", "room for " + std::to_string(disk.free_inodes) + " files",
                       "remove some");
  } else {
    rows.Ok("disk files", disk.free_inodes < 0 ? "not counted by this file system"
                                               : "room for " + std::to_string(disk.free_inodes));
  }
  const bool is_remote = std::ranges::find(kNetworkFileSystems, disk.kind) != kNetworkFileSystems.end();
  if (is_remote) {
    rows.Warning("file system", disk.kind + " may lose writes, or ignore locks",
                 "put the data directory on a disk of this machine; buckets may be elsewhere (--bucket-dir)");
  } else {
    rows.Ok("file system", disk.kind);
  }
  const std::string took =
      "a small write takes " + std::to_string(disk.write_time.count()) + " us until it is on disk";
  if (!disk.written) {
    rows.MissingForAll("disk writes", disk.written.error().message,
                       "repair the disk, or use another one (--data)");
  } else if (disk.write_time > kWriteTimeMax) {
    rows.Warning("disk writes", took + ": each step of a job waits for one write",
                 "use a faster disk for the data directory");
  } else {
    rows.Ok("disk writes", took);
  }
}

void JudgeTime(const DoctorFacts& facts, Rows& rows) {
  if (facts.clock_synchronised) {
    rows.Ok("clock", "synchronised");
  } else {
    rows.Warning("clock",
                 "the kernel does not report it as synchronised: tokens and times in logs may be wrong",
                 "run a time service (apt install systemd-timesyncd or chrony)");
  }
  if (!facts.certificate_ends) {
    rows.Ok("certificate", "none yet: the first start creates it");
  } else if (*facts.certificate_ends < facts.now) {
    rows.Warning("certificate",
                 "it ended on " + wire::PrintTime(*facts.certificate_ends) + ": TLS clients reject it",
                 "restart the server, which creates a new one");
  } else if (*facts.certificate_ends < facts.now + kCertificateWarning) {
    rows.Warning("certificate", "it ends on " + wire::PrintTime(*facts.certificate_ends),
                 "restart the server before, which creates a new one");
  } else {
    rows.Ok("certificate", "valid until " + wire::PrintTime(*facts.certificate_ends));
  }
  if (facts.has_gcs_folder || !facts.is_root) {
    rows.Ok("/gcs", facts.has_gcs_folder ? "there" : "made in each replica's view of the files");
  } else {
    rows.Ok("/gcs", "not there yet: root's server creates it");
  }
}

}  // namespace

Doctor JudgeMachine(const DoctorFacts& facts) {
  Rows rows;
  JudgeServer(facts, rows);
  JudgeNamespaces(facts, rows);
  JudgeLimits(facts, rows);
  JudgePrograms(facts, rows);
  JudgeDisk(facts, rows);
  JudgeTime(facts, rows);
  return rows.Take();
}

}  // namespace trainyard::service
