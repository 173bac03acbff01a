#include "net/sockets/gates.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/process/account_name.h"
#include "base/wire/host_name.h"
#include "net/front/google_names.h"
#include "net/sockets/listen_address.h"

namespace trainyard::sockets {

namespace {

access::AllowedAccounts AccountsOf(const Gates::Options& options) {
  const uid_t own = ::geteuid();
  return {.own_uid = own, .own_name = AccountName(own), .local_users = options.local_users, .job_uids = {}};
}

/// Hosts are also checked if tokens are required: public paths must not be reachable through a rebound name.
access::AllowedHosts OwnHosts(const Gates::Options& options) {
  return {.names = OwnNames(options.host, options.host_names), .suffixes = {}};
}

/// Access by account. With authentication, a connection grants nothing until its process was looked up
/// (api/iam/authority.h), so this gate does not look it up.
access::GateOptions ForWorkstation(const Gates::Options& options, SocketOwners& owners) {
  access::GateOptions gate{.hosts = OwnHosts(options),
                           .accounts = AccountsOf(options),
                           .proxies = options.proxies,
                           .xml_storage_host = ""};
  if (!options.auth) gate.has_owner = [&owners](http::Peer& peer) { return owners.Has(peer); };
  return gate;
}

access::GateOptions ForAdministration(const Gates::Options& options, SocketOwners& owners) {
  access::GateOptions gate = ForWorkstation(options, owners);
  gate.asks_tokens = options.auth;
  return gate;
}

access::GateOptions ForReplicas(const Gates::Options& options, SocketOwners& owners) {
  access::GateOptions gate = ForWorkstation(options, owners);
  gate.is_attempt_uid = options.is_attempt_uid;
  gate.accounts.job_uids = options.job_uids;
  return gate;
}

/// Also accepts Google's public host names.
access::GateOptions WithGooglesNames(access::GateOptions gate) {
  gate.hosts.names.insert(gate.hosts.names.end(), front::kTlsHosts.begin(), front::kTlsHosts.end());
  gate.hosts.names.emplace_back(wire::kGoogleMetadataHost);
  gate.hosts.names.emplace_back(wire::kGoogleMetadataShortHost);
  gate.hosts.names.emplace_back(wire::kGoogleMetadataAddress);
  gate.xml_storage_host = front::kStorageHost;
  return gate;
}

access::GateOptions ForFront(const Gates::Options& options, SocketOwners& owners) {
  access::GateOptions gate = WithGooglesNames(ForReplicas(options, owners));
  gate.hosts.suffixes.emplace_back(wire::kMetadataSuffix);
  return gate;
}

}  // namespace

Gates::Gates(const Options& options, boost::asio::any_io_executor loop, boost::asio::thread_pool& pool)
    : owners_(std::move(loop), pool, uids_),
      administration_(uids_, ForAdministration(options, owners_)),
      replicas_(uids_, ForReplicas(options, owners_)),
      front_(uids_, ForFront(options, owners_)),
      workstation_(uids_, WithGooglesNames(ForWorkstation(options, owners_))) {
  if (!options.local_users) return;
  const access::AllowedAccounts accounts = AccountsOf(options);
  const std::string name = accounts.own_name.empty() ? std::to_string(accounts.own_uid) : accounts.own_name;
  Diagnose(DiagnosticLevel::kWarning,
           "--allow-local-users: every account of this machine may read all buckets and logs, and run "
           "programs as " +
               name);
}

}  // namespace trainyard::sockets
