#include "server/options/option_rules.h"

#include <filesystem>

#include "net/sockets/listen_address.h"
#include "server/options/engine_flags.h"

namespace trainyard::server {

namespace {

namespace fs = std::filesystem;

/// Rejects a quota for an engine that no job uses, since it would have no effect.
Status CheckQuotaEngines(const ServeOptions& options) {
  for (const placement::QuotaLimit& limit : options.shares.quotas.all()) {
    const bool is_used = limit.engine.empty() ||
                         (limit.engine == placement::kSlurmEngine ? slurm::UsesSlurm(options.engine)
                                                                  : slurm::UsesThisMachine(options.engine));
    if (is_used) continue;
    return std::unexpected(FailedPrecondition(
        "'" + limit.Text() + "': no job goes to the engine " + limit.engine + " by --engine and --regions",
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
        FailedPrecondition("--backup-dir " + options.backup_dir + " has " + needed +
                               " in it, which jobs see: name a folder of its own for backups",
                           "--backup-dir"));
  }
  return {};
}

}  // namespace

Status CheckOptionRules(const ServeOptions& options) {
  if (Status address = sockets::CheckListenAddress(options.host, options.auth); !address) {
    Error error = std::move(address).error();
    error.field = "--listen";
    return std::unexpected(std::move(error));
  }
  if (options.network == replica::v1::Manifest::ISOLATED && !options.google_front)
    return std::unexpected(
        FailedPrecondition("--google-front off needs --network host: a replica in a network of its own "
                           "reaches nothing but this server",
                           "--google-front"));
  TY_RETURN_IF_ERROR(CheckBackupDir(options));
  return CheckQuotaEngines(options);
}

}  // namespace trainyard::server
