#include "server/doors.h"

#include <string>
#include <utility>

#include "api/refusal_answer.h"
#include "api/route.h"
#include "stores/audit/audit_entry.h"

namespace trainyard::server {

namespace {

access::Door::Options OptionsOfDoor(const ServeOptions& options, const Doors::Parts& parts) {
  return {.methods = api::Methods(),
          .default_project = options.project,
          .audit = AuditInto(parts.audit, options, parts.identities),
          .print_refusal = api::RefusalAnswer};
}

}  // namespace

access::AuditSink AuditInto(audit::AuditLog& log, const ServeOptions& options,
                            const identity::Identities& identities) {
  return [&options, &identities, &log](access::AuditLine line) {
    const bool is_bucket = line.resource.kind == iam::Resource::Kind::kBucket;
    const std::string owner = is_bucket ? identities.ProjectOf(line.resource.name) : std::string();
    std::string project = audit::ProjectOf(line, owner, options.project);
    log.Add(std::move(line), std::move(project));
  };
}

Doors::Doors(const ServeOptions& options, const Parts& parts)
    : administration_authority_({.identities = parts.identities,
                                 .tokens = parts.tokens,
                                 .jobs = parts.jobs,
                                 .clock = parts.clock,
                                 .own_urls = parts.own_urls,
                                 .has_sessions = true}),
      replica_authority_({.identities = parts.identities,
                          .tokens = parts.tokens,
                          .jobs = parts.jobs,
                          .clock = parts.clock,
                          .own_urls = parts.own_urls,
                          .asking = &parts.asking}),
      administration_(administration_authority_, parts.clock, OptionsOfDoor(options, parts)),
      replicas_(replica_authority_, parts.clock, OptionsOfDoor(options, parts)) {}

}  // namespace trainyard::server
