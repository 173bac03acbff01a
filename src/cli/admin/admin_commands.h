#pragma once

#include <memory>
#include <string>
#include <utility>

#include "cli/client_settings.h"
#include "cli/command_session.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"

/// `admin ...`: draining, backups, what a machine lacks. docs/operators.md.
namespace trainyard::cli {

/// --data, absolute.
[[nodiscard]] std::string AdminDataDir(const Arguments& arguments, const SettingSources& sources);

/// The server of --data, or the one that --server and the settings name, as the commands of `admin` ask it.
class AdminServer {
 public:
  /// kNotFound: no server has run with the data directory; kPermissionDenied: it is another account's.
  [[nodiscard]] static Result<AdminServer> Find(const LocalSession& session);

  /// "/trainyard/v1/admin/" and `path`.
  [[nodiscard]] Result<Json> Get(const std::string& path);
  [[nodiscard]] Result<Json> Post(const std::string& path, const Json& body);
  [[nodiscard]] const CommandSession& session() const noexcept { return opened_.session; }
  /// From now on by the server's own socket, where it is the server of `data` and this account may: it then
  /// knows that the request comes from its machine. False: as before.
  [[nodiscard]] Result<bool> UseSocket(const std::string& data);

 private:
  explicit AdminServer(ClientSession opened) : opened_(std::move(opened)) {}
  [[nodiscard]] ApiClient& client() noexcept { return local_ ? *local_ : *opened_.client; }
  ClientSession opened_;
  std::unique_ptr<ApiClient> local_;
};

[[nodiscard]] ExitStatus BackUp(const LocalSession& session);
[[nodiscard]] ExitStatus RestoreFromBackup(const LocalSession& session);
[[nodiscard]] ExitStatus DrainServer(const LocalSession& session);
[[nodiscard]] ExitStatus ReloadServer(const LocalSession& session);
[[nodiscard]] ExitStatus RecoverDataDirectory(const LocalSession& session);
/// The operator's word: the machine's clock is right.
[[nodiscard]] ExitStatus ConfirmRetention(const LocalSession& session);
[[nodiscard]] ExitStatus ShowAdminStatus(const LocalSession& session);
/// Status 0 if jobs can run here, else 1.
[[nodiscard]] ExitStatus ExamineMachine(const LocalSession& session);

}  // namespace trainyard::cli
