// The flags about who may ask, and at which addresses: docs/access.md.
#include "base/wire/host_name.h"
#include "engine/local/attempt_accounts.h"
#include "server/options/flag.h"

namespace trainyard::server {
namespace {

using Options = ServeOptions;

constexpr std::int64_t kAuditBytesMin = std::int64_t{1} << 20;
constexpr std::int64_t kAuditBytesMax = std::int64_t{1} << 50;

Result<std::string> ReadFileName(const std::string& text) {
  if (text.empty()) return std::unexpected(InvalidArgument("", "name a file"));
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

/// Reads "HOST", "HOST:PORT" or "[::1]:PORT".
Status ReadAgentListen(const Flag&, FlagValues values, ServeOptions& options) {
  const std::string& text = values.back().text;
  if (text.empty()) return {};
  const bool has_port = text.contains(':') && (text.find(':') == text.rfind(':') || text.contains("]:"));
  const auto address = sockets::ParseMetricsAddress(has_port ? text : text + ":1");
  if (!address || (has_port && address->port == 0))
    return std::unexpected(InvalidArgument("", "'" + text + "' is not HOST[:PORT]"));
  options.engine.agent_host = address->host;
  if (has_port) options.engine.agent_port = address->port;
  return {};
}

Result<std::string> ReadHostName(const std::string& text) {
  std::optional<std::string> name = wire::HostNameOf(text);
  if (name && !text.contains(':')) return *std::move(name);
  return std::unexpected(InvalidArgument("", "'" + text + "' is not a host's name without a port"));
}

Result<std::optional<access::UidRange>> ReadJobUsers(const std::string& text) {
  if (text.empty()) return std::nullopt;
  TY_TRY(const engine::JobUsers users, engine::ParseJobUsers(text));
  return access::UidRange{.first = users.first, .count = users.count};
}

constexpr Flag kFlags[] = {
    {"--help",
     "",
     "Print this help message and exit.",
     {.kind = configuration::Key::Kind::kSwitch, .is_setting = false}},
    {"--config",
     "FILE",
     "File of settings, whose keys are these flags: `trainyard config show` prints one. A flag that is given "
     "replaces its key.",
     {.read = kParsed<At<&Options::config_file>, ReadFileName>.read, .is_setting = false}},
    {"--data", "DIR", "Folder that holds jobs, logs, buckets and environments.",
     kText<At<&Options::data_dir>>},
    {"--listen",
     "HOST:PORT",
     "Address of the plain port; the TLS port is the next one; port 0 picks free ones; at an address that "
     "other machines reach (with --auth on) it is the TLS port, and the plain one is the loopback's next.",
     {.read = ReadListen, .fallback = ListenText}},
    {"--metrics-listen", "HOST:PORT",
     "Further address, plain HTTP, that answers /metrics (without names of jobs), /healthz and /readyz to "
     "everybody who reaches it, and nothing else; PORT alone is the loopback's.",
     kParsed<At<&Options::metrics>, ReadMetricsListen>},
    {"--host-name", "NAME",
     "Further name under which clients reach the server; requests for other names than those of this machine "
     "(localhost) are refused; may be given several times.",
     kEach<At<&Options::host_names>, ReadHostName>},
    {"--allow-local-users", "",
     "Answer every account of this machine: each can then run programs as this one (default: this account "
     "and root).",
     kSwitch<At<&Options::local_users>>},
    {"--tls-certificate", "FILE",
     "File with the certificate of the TLS port, and those above it, in PEM; read again by trainyard admin "
     "reload (default: one that the installation's own authority signs).",
     kText<At<&Options::tls_certificate>>},
    {"--tls-key", "FILE", "File with the private key of --tls-certificate, in PEM.",
     kText<At<&Options::tls_key>>},
    {"--auth", "on|off",
     "On: whoever asks shows a token and may do what policies say (the first administrator's is in "
     "DATA/admin-token); off: every process of this account may do everything.",
     kChoice<At<&Options::auth>, true, false>},
    {"--trusted-proxy", "ADDRESS[/BITS]",
     "Proxy, or range of them, whose X-Forwarded-For and X-Forwarded-Proto are believed: the audit log then "
     "has the client's address, and links its scheme; may be given several times.",
     kEach<At<&Options::access, &AccessOptions::trusted_proxies>, access::ParseAddressRange>},
    {"--audit-days", "DAYS", "Days that the audit log is kept (there is one with --auth on).",
     kWhole<At<&Options::access, &AccessOptions::audit, &audit::Retention::days_max>, 1, 36'500>},
    {"--audit-bytes", "BYTES",
     "Bytes that the audit log may have; beyond them its oldest files go before their time.",
     kWhole<At<&Options::access, &AccessOptions::audit, &audit::Retention::bytes_max>, kAuditBytesMin,
            kAuditBytesMax>},
    {"--agent-listen",
     "HOST[:PORT]",
     "Address at which nodes reach this server, with TLS (default: the machine's own on the way to the "
     "nodes, and a port that is chosen once).",
     {.read = ReadAgentListen}},
    {"--job-users", "FIRST-LAST",
     "Numbers of users (and groups) that nobody has, as 1900000000-1999999999: each job's Python package "
     "runs as others of them, not as root (needs root; then no containers run; default: jobs run as the "
     "server).",
     kParsed<At<&Options::job_uids>, ReadJobUsers>},
    {"--verbose", "", "Say more on stderr.", kSwitch<At<&Options::verbose>>},
};

}  // namespace

std::span<const Flag> DoorFlags() { return kFlags; }

}  // namespace trainyard::server
