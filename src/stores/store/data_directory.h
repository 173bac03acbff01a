#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/disk_reserve.h"
#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::store {

/// The directory with all of a server's data: jobs, logs, buckets, environments, attempts. Used by one server
/// at a time (a lock file, which the kernel releases when the server ends for any reason). Blocking; used
/// before the loop runs.
class DataDirectory {
 public:
  /// Creates what is missing and takes the lock. A directory that other accounts can enter is closed to them
  /// (mode 0700), with a line that says so. If the disk is full, the reserve is released. kFailedPrecondition
  /// if another server keeps the lock for longer than kForkWindowMax; names its process and address.
  [[nodiscard]] static Result<DataDirectory> Open(const std::string& path);

  [[nodiscard]] std::string Path(const std::string& name) const { return path_ + "/" + name; }
  /// The reserve on the directory's disk.
  [[nodiscard]] DiskReserve& reserve() const noexcept { return *reserve_; }
  [[nodiscard]] std::string jobs_db() const { return Path("trainyard.db"); }
  [[nodiscard]] std::string logs_db() const { return Path("logs.db"); }
  [[nodiscard]] std::string attempts_dir() const { return Path("attempts"); }
  /// Without symbolic links: virtual environments keep the path that they were made under.
  [[nodiscard]] std::string environments_dir() const;
  /// Pulled images.
  [[nodiscard]] std::string images_dir() const { return Path("images"); }
  /// Credentials of registries: what `trainyard registries login` wrote.
  [[nodiscard]] std::string registries_dir() const { return Path("registries"); }
  /// Sockets, one for each purpose; docs/adr/0022.
  [[nodiscard]] std::string admin_socket() const { return Path("run/admin.sock"); }
  [[nodiscard]] std::string attach_socket() const { return Path("run/attach.sock"); }
  [[nodiscard]] std::string replica_socket() const { return Path("run/replica.sock"); }
  [[nodiscard]] std::string front_tls_socket() const { return Path("run/front-tls.sock"); }
  [[nodiscard]] std::string front_plain_socket() const { return Path("run/front.sock"); }
  /// The audit log: src/stores/audit.
  [[nodiscard]] std::string audit_dir() const { return Path("audit"); }
  /// The first administrator's token, if authentication is on.
  [[nodiscard]] std::string admin_token() const { return Path("admin-token"); }
  [[nodiscard]] std::string tls_dir() const { return Path("tls"); }
  /// The files of the front that replicas see: the CA bundle and gsutil's settings.
  [[nodiscard]] std::string front_dir() const { return Path("front"); }

  /// The certificate authorities to trust for Google's names, and ours.
  [[nodiscard]] std::string ca_bundle() const { return Path("front/ca-bundle.pem"); }

  /// A secret of this installation, created once: control::Keys are derived from it.
  [[nodiscard]] Result<std::string> Secret() const;

  /// What clients on this machine read to find the server: DATA/run/server.json.
  struct Presence {
    std::string url;
    std::string tls_url;
    bool is_open = false;            ///< other machines can reach tls_url
    std::uint16_t replica_port = 0;  ///< a loopback port, for replicas in the machine's network; 0: none
    std::string ca_file;
    std::string metrics_url;  ///< of the metrics listener; empty: there is none
    std::string project;
    std::int64_t pid = 0;
    std::map<std::string, std::string> bucket_dirs;  ///< buckets elsewhere: name -> absolute directory
    bool auth = false;                               ///< callers have to log in
    std::string lacking;  ///< which limits this machine cannot enforce; empty: none
    /// The addresses to which `trainyard with` directs Google's names; without an address: none.
    struct Workstation {
      std::string address;
      std::uint16_t tls_port = 0;
      std::uint16_t plain_port = 0;  ///< 0: there is no metadata server
      std::string ca_bundle;
    } workstation;
  };
  [[nodiscard]] Status Announce(const Presence& presence) const;

  /// Ports of the previous server; 0 for those that it did not have. Clients' environments name the plain
  /// one, those of running replicas the one for replicas.
  struct FormerPorts {
    std::uint16_t plain = 0;
    std::uint16_t tls = 0;
    std::uint16_t replicas = 0;
  };
  [[nodiscard]] FormerPorts ReadFormerPorts() const;

 private:
  DataDirectory(std::string path, UniqueFd lock, std::unique_ptr<DiskReserve> reserve)
      : path_(std::move(path)), lock_(std::move(lock)), reserve_(std::move(reserve)) {}

  std::string path_;
  UniqueFd lock_;
  std::unique_ptr<DiskReserve> reserve_;
};

/// The processes that have the file open, as far as this account can see. Blocking: reads /proc.
[[nodiscard]] std::vector<pid_t> ProcessesWith(const std::string& file);

/// "process 12 (python3) and process 14 (cat)"; "a process of another account" if none is visible.
[[nodiscard]] std::string DescribeHolders(const std::vector<pid_t>& holders);

}  // namespace trainyard::store
