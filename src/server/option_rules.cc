#include "server/option_rules.h"

#include "server/cluster/engine_options.h"
#include "server/listen_address.h"

namespace trainyard::server {

namespace {

/// A quota of an engine that no job asks for room would be of no effect.
Status CheckQuotaEngines(const ServeOptions& options) {
  for (const placement::QuotaLimit& limit : options.shares.quotas.all()) {
    const bool is_used =
        limit.engine.empty() || (limit.engine == placement::kSlurmEngine ? UsesSlurm(options.engine)
                                                                         : UsesThisMachine(options.engine));
    if (is_used) continue;
    return std::unexpected(FailedPrecondition(
        "'" + limit.Text() + "': no job goes to the engine " + limit.engine + " by --engine and --regions",
        "--quota"));
  }
  return {};
}

}  // namespace

Status CheckOptionRules(const ServeOptions& options) {
  if (Status address = CheckListenAddress(options.host, options.auth); !address) {
    Error error = std::move(address).error();
    error.field = "--listen";
    return std::unexpected(std::move(error));
  }
  if (options.network == replica::v1::Manifest::ISOLATED && !options.google_front)
    return std::unexpected(
        FailedPrecondition("--google-front off needs --network host: a replica in a network of its own "
                           "reaches nothing but this server",
                           "--google-front"));
  return CheckQuotaEngines(options);
}

}  // namespace trainyard::server
