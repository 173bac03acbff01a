// The flags about who may ask, and at which addresses: docs/access.md.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>

#include "base/wire/host_name.h"
#include "engine/local/attempt_accounts.h"
#include "server/options/flag.h"

namespace trainyard::server {
namespace {

using Options = ServeOptions;

constexpr std::int64_t kAuditBytesMin = std::int64_t{1} << 20;
constexpr std::int64_t kAuditBytesMax = std::int64_t{1} << 50;

Result<std::string> ReadFileName(const std::string& text) {
  if (text.empty()) return std::unexpected(InvalidArgument("", "must be the name of a file"));
  return text;
}

/// Reads "HOST:PORT", "[::1]:PORT" or "PORT" alone.
Status ReadListen(const Flag&, FlagValues values, ServeOptions& options) {
  TY_TRY(sockets::MetricsAddress address, sockets::ParseMetricsAddress(values.back().text));
  options.host = std::move(address.host);
  options.port = address.port;
  return {};
}

std::string ListenText(const Flag&, const ServeOptions& defaults) {
  return defaults.host + ":" + std::to_string(defaults.port);
}

Result<std::optional<sockets::MetricsAddress>> ReadMetricsListen(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return sockets::ParseMetricsAddress(text);
}

/// Reads "HOST", "HOST:PORT" or "[::1]:PORT"; without a port it is 0.
Result<sockets::MetricsAddress> ReadAgentPlace(const std::string& text) {
  const bool has_port = text.contains(':') && (text.find(':') == text.rfind(':') || text.contains("]:"));
  auto address = sockets::ParseMetricsAddress(has_port ? text : text + ":1");
  if (!address || (has_port && address->port == 0))
    return std::unexpected(InvalidArgument("", "'" + text + "' is not HOST[:PORT]"));
  if (!has_port) address->port = 0;
  return address;
}

Status ReadAgentListen(const Flag&, FlagValues values, ServeOptions& options) {
  const std::string& text = values.back().text;
  if (text.empty()) return {};
  TY_TRY(const sockets::MetricsAddress address, ReadAgentPlace(text));
  options.engine.agent_host = address.host;
  if (address.port != 0) options.engine.agent_port = address.port;
  return {};
}

/// A name would be looked up in each pod, which may have no name server.
bool IsNumeric(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

Status ReadAgentAddress(const Flag&, FlagValues values, ServeOptions& options) {
  const std::string& text = values.back().text;
  if (text.empty()) return {};
  TY_TRY(sockets::MetricsAddress address, ReadAgentPlace(text));
  if (!IsNumeric(address.host))
    return std::unexpected(InvalidArgument("", "'" + text + "' does not begin with a numeric address"));
  options.engine.agent_address = std::move(address.host);
  options.engine.agent_address_port = address.port;
  return {};
}

Result<std::string> ReadHostName(const std::string& text) {
  std::optional<std::string> name = wire::HostNameOf(text);
  if (name && !text.contains(':')) return *std::move(name);
  return std::unexpected(InvalidArgument("", "'" + text + "' is not a host name without a port"));
}

Result<std::optional<access::UidRange>> ReadJobUsers(const std::string& text) {
  if (text.empty()) return std::nullopt;
  TY_TRY(const engine::JobUsers users, engine::ParseJobUsers(text));
  return access::UidRange{.first = users.first, .count = users.count};
}

constexpr Flag kDoorFlags[] = {
    {"--help",
     "",
     "Prints this help and exits.",
     {.kind = configuration::Key::Kind::kSwitch, .is_setting = false}},
    {"--config",
     "FILE",
     "Configuration file. Its keys are the names of these flags; `trainyard config show` prints an example. "
     "A flag on the command line overrides the file.",
     {.read = kParsed<At<&Options::config_file>, ReadFileName>.read, .is_setting = false}},
    {"--data", "DIR", "Directory for jobs, logs, buckets and environments.", kText<At<&Options::data_dir>>},
    {"--listen",
     "HOST:PORT",
     "Address of the port without TLS. The TLS port is the next number. Port 0 picks free ports. With an "
     "address that other machines can reach (needs --auth on), this is the TLS port, and the port without "
     "TLS is the next number on the loopback address.",
     {.read = ReadListen, .fallback = ListenText}},
    {"--metrics-listen", "HOST:PORT",
     "Additional plain HTTP address that serves only /metrics (without job names), /healthz and /readyz, to "
     "everyone who can reach it. PORT alone means the loopback address.",
     kParsed<At<&Options::metrics>, ReadMetricsListen>},
    {"--host-name", "NAME",
     "Additional host name of the server. Requests for any name other than this one and localhost are "
     "rejected. Can be repeated.",
     kEach<At<&Options::host_names>, ReadHostName>},
    {"--allow-local-users", "",
     "Answer requests from every account of this machine. Each of them can then run programs as this "
     "account. Default: only this account and root.",
     kSwitch<At<&Options::local_users>>},
    {"--tls-certificate", "FILE",
     "PEM file with the certificate of the TLS port and its intermediate certificates. `trainyard admin "
     "reload` reads it again. Default: a certificate that the server signs itself.",
     kText<At<&Options::tls_certificate>>},
    {"--tls-key", "FILE", "PEM file with the private key of --tls-certificate.",
     kText<At<&Options::tls_key>>},
    {"--auth", "on|off",
     "on: every request needs a token, and policies decide what it may do (the first administrator's token "
     "is in DATA/admin-token). off: every process of this account may do everything.",
     kChoice<At<&Options::auth>, true, false>},
    {"--trusted-proxy", "ADDRESS[/BITS]",
     "Address or range of a proxy whose X-Forwarded-For and X-Forwarded-Proto headers are trusted. They set "
     "the client address in the audit log and the scheme of links. Can be repeated.",
     kEach<At<&Options::access, &AccessOptions::trusted_proxies>, access::ParseAddressRange>},
    {"--audit-days", "DAYS", "How many days the audit log is kept. The log is only written with --auth on.",
     kWhole<At<&Options::access, &AccessOptions::audit, &audit::Retention::days_max>, 1, 36'500>},
    {"--audit-bytes", "BYTES",
     "Size limit of the audit log in bytes. If it is exceeded, the oldest files are removed early.",
     kWhole<At<&Options::access, &AccessOptions::audit, &audit::Retention::bytes_max>, kAuditBytesMin,
            kAuditBytesMax>},
    {"--agent-listen",
     "HOST[:PORT]",
     "Address at which cluster nodes reach this server over TLS. Default: this machine's address on the "
     "route to the nodes, and a port that is chosen once.",
     {.read = ReadAgentListen}},
    {"--agent-address",
     "HOST[:PORT]",
     "Numeric address at which cluster nodes reach this server, if it is not that of --agent-listen but that "
     "of a Service or a load balancer. Default: the address of --agent-listen.",
     {.read = ReadAgentAddress}},
    {"--job-users", "FIRST-LAST",
     "Range of unused user and group ids, such as 1900000000-1999999999. The Python package of each job runs "
     "as one of these users instead of root. Needs root and disables containers. Default: jobs run as the "
     "server's user.",
     kParsed<At<&Options::job_uids>, ReadJobUsers>},
    {"--verbose", "", "Print more messages to stderr.", kSwitch<At<&Options::verbose>>},
};

}  // namespace

std::span<const Flag> DoorFlags() { return kDoorFlags; }

}  // namespace trainyard::server
