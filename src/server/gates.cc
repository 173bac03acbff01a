#include "server/gates.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "async/diagnostics.h"
#include "front/google_names.h"
#include "server/account_name.h"
#include "wire/host_name.h"

namespace trainyard::server {

namespace {

access::Accounts AccountsOf(const ServeOptions& options) {
  const uid_t own = ::geteuid();
  return {.own_uid = own, .own_name = AccountName(own), .local_users = options.local_users, .job_uids = {}};
}

access::AllowedHosts OwnHosts(const ServeOptions& options) {
  access::AllowedHosts hosts{.names = options.host_names, .suffixes = {}};
  hosts.names.push_back(options.host);
  return hosts;
}

access::GateOptions ForAdministration(const ServeOptions& options) {
  access::GateOptions gate{
      .hosts = OwnHosts(options), .accounts = AccountsOf(options), .xml_storage_host = ""};
  if (options.auth) gate.hosts.any = gate.accounts.local_users = true;  // the door asks for tokens
  return gate;
}

/// Its metadata server gives tokens of the administrator: to its own account and root alone.
access::GateOptions ForWorkstation(const ServeOptions& options) {
  return {.hosts = OwnHosts(options), .accounts = AccountsOf(options), .xml_storage_host = ""};
}

access::GateOptions ForReplicas(const ServeOptions& options, AttemptAccounts& attempts) {
  access::GateOptions gate{.hosts = OwnHosts(options),
                           .accounts = AccountsOf(options),
                           .is_attempt_uid = [&attempts](std::uint32_t uid) { return attempts.Has(uid); },
                           .xml_storage_host = ""};
  gate.accounts.job_uids = options.job_uids;
  return gate;
}

/// Also under the names that Google has everywhere.
access::GateOptions WithGooglesNames(access::GateOptions gate) {
  gate.hosts.names.insert(gate.hosts.names.end(), front::kTlsHosts.begin(), front::kTlsHosts.end());
  gate.hosts.names.emplace_back(wire::kGoogleMetadataHost);
  gate.hosts.names.emplace_back(wire::kGoogleMetadataShortHost);
  gate.hosts.names.emplace_back(wire::kGoogleMetadataAddress);
  gate.xml_storage_host = front::kStorageHost;
  return gate;
}

access::GateOptions ForFront(const ServeOptions& options, AttemptAccounts& attempts) {
  access::GateOptions gate = WithGooglesNames(ForReplicas(options, attempts));
  gate.hosts.suffixes.emplace_back(wire::kMetadataSuffix);
  return gate;
}

}  // namespace

Gates::Gates(const ServeOptions& options, boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
             const std::string& attempts_dir)
    : attempts_(std::move(loop), pool, attempts_dir),
      administration_(uids_, ForAdministration(options)),
      replicas_(uids_, ForReplicas(options, attempts_)),
      front_(uids_, ForFront(options, attempts_)),
      workstation_(uids_, WithGooglesNames(ForWorkstation(options))) {
  if (!options.local_users) return;
  const access::Accounts accounts = AccountsOf(options);
  const std::string name = accounts.own_name.empty() ? std::to_string(accounts.own_uid) : accounts.own_name;
  Diagnose(DiagnosticLevel::kWarning,
           "--allow-local-users: every account of this machine may read all buckets and logs, and run "
           "programs as " +
               name);
}

}  // namespace trainyard::server
