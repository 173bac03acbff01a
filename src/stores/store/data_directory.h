#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/async/disk_reserve.h"
#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::store {

/// The folder that holds everything: jobs, logs, buckets, environments, attempts. Held by one server at a
/// time (a lock file, freed by the kernel when the server ends, however it ends). Blocking; used before the
/// loop runs.
class DataDirectory {
 public:
  /// Makes what is missing and takes the lock. A folder that other accounts can enter is shut (mode 0700),
  /// with a line that says so. Where the disk is full, the reserve is given up. kFailedPrecondition when
  /// another server has it for longer than kForkWindowMax, naming its process and address.
  [[nodiscard]] static Result<DataDirectory> Open(const std::string& path);

  [[nodiscard]] std::string Path(const std::string& name) const { return path_ + "/" + name; }
  /// Of its disk.
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
  /// Sockets by purpose; docs/adr/0022.
  [[nodiscard]] std::string admin_socket() const { return Path("run/admin.sock"); }
  [[nodiscard]] std::string attach_socket() const { return Path("run/attach.sock"); }
  [[nodiscard]] std::string replica_socket() const { return Path("run/replica.sock"); }
  [[nodiscard]] std::string front_tls_socket() const { return Path("run/front-tls.sock"); }
  [[nodiscard]] std::string front_plain_socket() const { return Path("run/front.sock"); }
  /// Who did what: src/stores/audit.
  [[nodiscard]] std::string audit_dir() const { return Path("audit"); }
  /// The first administrator's token, where authentication is on.
  [[nodiscard]] std::string admin_token() const { return Path("admin-token"); }
  [[nodiscard]] std::string tls_dir() const { return Path("tls"); }
  /// What replicas see of the front: the CA bundle and gsutil's settings.
  [[nodiscard]] std::string front_dir() const { return Path("front"); }

  /// The authorities that programs trust under Google's names, and ours.
  [[nodiscard]] std::string ca_bundle() const { return Path("front/ca-bundle.pem"); }

  /// A secret of this installation, made once: control::Keys are derived from it.
  [[nodiscard]] Result<std::string> Secret() const;

  /// Where clients of this machine find the server: DATA/run/server.json.
  struct Presence {
    std::string url;
    std::string tls_url;
    bool is_open = false;            ///< other machines reach tls_url
    std::uint16_t replica_port = 0;  ///< of the loopback, for replicas in the machine's network; 0: none
    std::string ca_file;
    std::string metrics_url;  ///< of the listener of figures; empty: there is none
    std::string project;
    std::int64_t pid = 0;
    std::map<std::string, std::string> bucket_dirs;  ///< buckets elsewhere: name -> absolute folder
    bool auth = false;                               ///< who asks has to log in
    std::string lacking;                             ///< what this machine does not limit; empty: nothing
    /// What `trainyard with` leads Google's names to; without an address: nothing.
    struct Workstation {
      std::string address;
      std::uint16_t tls_port = 0;
      std::uint16_t plain_port = 0;  ///< 0: there is no metadata server
      std::string ca_bundle;
    } workstation;
  };
  [[nodiscard]] Status Announce(const Presence& presence) const;

  /// Ports of the server that was here before; 0 for those that there were none of. Clients' environments
  /// name the plain one, those of replicas that live on the replicas' one.
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

}  // namespace trainyard::store
