#include <algorithm>
#include <filesystem>

#include "net/http/client_request.h"
#include "net/sockets/listen_address.h"
#include "server/options/flag.h"

namespace trainyard::server {

namespace {

namespace fs = std::filesystem;

/// Rejects a quota for an engine that no job uses, since it would have no effect.
Status CheckQuotaEngines(const ServeOptions& options) {
  for (const placement::QuotaLimit& limit : options.shares.quotas.all()) {
    const bool is_used = limit.engine.empty() || placement::Uses(options.engine, limit.engine);
    if (is_used) continue;
    return std::unexpected(FailedPrecondition("'" + limit.Text() + "': no job runs on the engine " +
                                                  limit.engine + " with this --engine and --regions",
                                              "--quota"));
  }
  return {};
}

/// Programs see an empty directory in place of the backups, so it must not contain anything that they need.
Status CheckBackupDir(const ServeOptions& options) {
  if (options.backup_dir.empty()) return {};
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(options.backup_dir, error);
  for (const std::string& needed :
       {options.data_dir, options.data_dir + "/environments", std::string("/tmp")}) {
    const fs::path way = fs::weakly_canonical(needed, error).lexically_relative(folder);
    if (way.empty() || *way.begin() == "..") continue;
    return std::unexpected(
        FailedPrecondition("--backup-dir " + options.backup_dir + " contains " + needed +
                               ", which jobs can see: use a separate directory for backups",
                           "--backup-dir"));
  }
  return {};
}

/// Agents cannot connect to an address that means every one of this machine.
Status CheckAgentAddress(const engine::EngineOptions& options) {
  const bool is_any = options.agent_host == "0.0.0.0" || options.agent_host == "::";
  if (!is_any || !options.agent_address.empty()) return {};
  return std::unexpected(InvalidArgument(
      "--agent-listen", options.agent_host + " needs --agent-address: the address at which nodes reach it"));
}

/// Rejects options that do not work with slurmrestd, or only with it.
Status CheckRest(const engine::EngineOptions& options) {
  if (options.slurm_rest.empty()) {
    if (options.slurm_rest_token_file.empty()) return {};
    return std::unexpected(InvalidArgument("--slurm-rest-token-file", "needs --slurm-rest"));
  }
  const auto refuse = [](std::string why) -> Status {
    return std::unexpected(InvalidArgument("--slurm-rest", std::move(why)));
  };
  if (const auto endpoint = http::Endpoint::Parse(options.slurm_rest); !endpoint)
    return refuse(endpoint.error().message);
  if (!options.slurm_tools.empty()) return refuse("cannot be combined with --slurm-tools");
  const auto has_lines = [](const auto& machine) { return !machine.second.options.lines.empty(); };
  if (!options.slurm.options.lines.empty() || std::ranges::any_of(options.slurm.machine_types, has_lines))
    return refuse("cannot be combined with --slurm-option: slurmrestd does not support options of sbatch");
  return {};
}

/// Rejects destinations that nothing can be sent to.
Status CheckNotices(const NoticeOptions& options) {
  for (const notices::Destination& destination : options.destinations) {
    const bool is_mail = destination.kind == notices::Destination::Kind::kMail;
    if (!is_mail && options.secret_file.empty())
      return std::unexpected(InvalidArgument(
          "--notify-secret-file", "'" + destination.name + "' of --notify needs a secret to sign with"));
    if (is_mail && (!options.mail_server || options.mail_from.empty()))
      return std::unexpected(
          InvalidArgument(options.mail_server ? "--smtp-from" : "--smtp-server",
                          "'" + destination.name +
                              "' of --notify is an address for e-mail, which needs both --smtp-server "
                              "and --smtp-from"));
    if (is_mail) continue;
    if (const auto endpoint = http::Endpoint::Parse(destination.server); !endpoint)
      return std::unexpected(InvalidArgument("--notify", endpoint.error().message));
  }
  const bool logs_in = options.mail_server && !options.mail_server->user.empty();
  if (logs_in != !options.mail_password_file.empty())
    return std::unexpected(
        InvalidArgument("--smtp-password-file", logs_in ? "the user of --smtp-server needs a password"
                                                        : "needs a user in --smtp-server: smtp://USER@HOST"));
  return {};
}

}  // namespace

Status CheckFlagPairs(const ServeOptions& options) {
  if (options.tls_certificate.empty() != options.tls_key.empty())
    return std::unexpected(InvalidArgument(options.tls_key.empty() ? "--tls-key" : "--tls-certificate",
                                           "--tls-certificate and --tls-key must be given together"));
  for (const auto& [name, path] : options.bucket_dirs)
    if (std::ranges::find(options.real_buckets, name) != options.real_buckets.end())
      return std::unexpected(InvalidArgument(
          "--bucket-dir", "'" + name + "=" + path + "' names a bucket that --real-bucket also names"));
  TY_RETURN_IF_ERROR(CheckNotices(options.notices));
  const retention::DiskMarks& marks = options.retention.marks;
  if (marks.queue_below > 0 && marks.queue_below < marks.refuse_below)
    return std::unexpected(InvalidArgument("--queue-below-free", "'" + ByteCountText(marks.queue_below) +
                                                                     "' is less than --refuse-below-free (" +
                                                                     ByteCountText(marks.refuse_below) +
                                                                     "); it must be at least as large"));
  TY_RETURN_IF_ERROR(CheckAgentAddress(options.engine));
  return CheckRest(options.engine);
}

Status CheckOptionRules(const ServeOptions& options) {
  if (Status address = sockets::CheckListenAddress(options.host, options.auth); !address) {
    Error error = std::move(address).error();
    error.field = "--listen";
    return std::unexpected(std::move(error));
  }
  if (options.network == replica::v1::Manifest::ISOLATED && !options.google_front)
    return std::unexpected(
        FailedPrecondition("--google-front off needs --network host: a replica in an isolated network can "
                           "only reach this server",
                           "--google-front"));
  TY_RETURN_IF_ERROR(CheckBackupDir(options));
  return CheckQuotaEngines(options);
}

}  // namespace trainyard::server
