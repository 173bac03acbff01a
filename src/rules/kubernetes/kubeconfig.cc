#include "rules/kubernetes/kubeconfig.h"

#include <array>
#include <boost/json/object.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/text/base64.h"
#include "base/wire/json_members.h"
#include "base/wire/yaml.h"

namespace trainyard::kubernetes {

namespace {

std::string LineOf(const YAML::Node& node) {
  const int line = node.Mark().line;  // -1: the node is not from the text
  return line < 0 ? "" : "line " + std::to_string(line + 1) + ": ";
}

std::unexpected<Error> Mistake(const YAML::Node& node, const std::string& reason) {
  return std::unexpected(InvalidArgument("", LineOf(node) + reason));
}

std::unexpected<Error> Unusable(std::string reason) {
  return std::unexpected(FailedPrecondition(std::move(reason)));
}

/// A member of a mapping; a null node if it is missing.
YAML::Node Member(const YAML::Node& mapping, std::string_view name) {
  for (const auto& entry : mapping)
    if (entry.first.IsScalar() && entry.first.Scalar() == name) return entry.second;
  return {};
}

/// Reads the members of one mapping; remembers the first mistake.
class Fields {
 public:
  explicit Fields(const YAML::Node& mapping) : mapping_(mapping) {
    if (!mapping_.IsNull() && !mapping_.IsMap()) {
      mistake_ = Mistake(mapping_, "this must be a mapping").error();
      mapping_.reset();  // an assignment would change the document
    }
  }

  [[nodiscard]] bool Has(std::string_view name) const { return !Member(mapping_, name).IsNull(); }

  std::string Text(std::string_view name) {
    const YAML::Node value = Member(mapping_, name);
    if (value.IsNull()) return {};
    if (value.IsScalar()) return value.Scalar();
    Note(value, "`" + std::string(name) + "` must be a text");
    return {};
  }

  bool Flag(std::string_view name) {
    const std::string text = Text(name);
    if (text != "" && text != "true" && text != "false")
      Note(Member(mapping_, name), "`" + std::string(name) + "` must be true or false");
    return text == "true";
  }

  /// The elements of a list of mappings, or of texts.
  std::vector<YAML::Node> List(std::string_view name) {
    const YAML::Node value = Member(mapping_, name);
    if (value.IsNull()) return {};
    if (!value.IsSequence()) {
      Note(value, "`" + std::string(name) + "` must be a list");
      return {};
    }
    return {value.begin(), value.end()};
  }

  [[nodiscard]] YAML::Node Inner(std::string_view name) const { return Member(mapping_, name); }

  /// A certificate or a key: NAME-data in base64, else the file of NAME.
  Pem ReadPem(const std::string& name, const std::string& folder) {
    const std::string data = Text(name + "-data");
    if (data.empty()) return {.file = Absolute(Text(name), folder)};
    const std::optional<std::string> text = text::FromBase64(data);
    if (!text) Note(Member(mapping_, name + "-data"), "`" + name + "-data` is not base64");
    return {.text = text.value_or("")};
  }

  static std::string Absolute(const std::string& path, const std::string& folder) {
    return path.empty() || path.starts_with('/') ? path : folder + "/" + path;
  }

  void Note(const YAML::Node& node, const std::string& reason) {
    if (!mistake_) mistake_ = Mistake(node, reason).error();
  }
  [[nodiscard]] Status End() const { return mistake_ ? Status(std::unexpected(*mistake_)) : Status(); }

 private:
  YAML::Node mapping_;
  std::optional<Error> mistake_;
};

/// The element of a list whose `name` is `wanted`: a mapping, of which the member `kind` is returned.
Result<YAML::Node> FindNamed(Fields& config, std::string_view list, std::string_view kind,
                             const std::string& wanted) {
  for (const YAML::Node& element : config.List(list)) {
    Fields fields(element);
    const std::string name = fields.Text("name");
    TY_RETURN_IF_ERROR(fields.End());
    if (name == wanted) return fields.Inner(kind);
  }
  TY_RETURN_IF_ERROR(config.End());
  return Unusable("the kubeconfig has no " + std::string(kind) + " '" + wanted + "'");
}

Status ReadCluster(const YAML::Node& node, const std::string& folder, Access& access) {
  Fields cluster(node);
  access.server = cluster.Text("server");
  access.authority = cluster.ReadPem("certificate-authority", folder);
  access.tls_server_name = cluster.Text("tls-server-name");
  access.proxy = cluster.Text("proxy-url");
  const bool trusts_all = cluster.Flag("insecure-skip-tls-verify");
  TY_RETURN_IF_ERROR(cluster.End());
  if (trusts_all)
    return Unusable(
        "insecure-skip-tls-verify is not supported: give the cluster's authority with certificate-authority, "
        "or the name in its certificate with tls-server-name");
  if (!access.server.starts_with("https://") && !access.server.starts_with("http://"))
    return Mistake(node, "the cluster's `server` must be an address like https://HOST:PORT");
  return {};
}

Result<ExecPlugin> ReadPlugin(const YAML::Node& node, const std::string& folder) {
  Fields exec(node);
  ExecPlugin plugin{.command = exec.Text("command"),
                    .api_version = exec.Text("apiVersion"),
                    .install_hint = exec.Text("installHint"),
                    .wants_cluster = exec.Flag("provideClusterInfo")};
  // A name without a slash is looked up in PATH, as kubectl does it.
  if (plugin.command.find('/') != std::string::npos)
    plugin.command = Fields::Absolute(plugin.command, folder);
  for (const YAML::Node& argument : exec.List("args")) {
    if (!argument.IsScalar()) return Mistake(argument, "an argument must be a text");
    plugin.arguments.push_back(argument.Scalar());
  }
  for (const YAML::Node& element : exec.List("env")) {
    Fields variable(element);
    plugin.variables[variable.Text("name")] = variable.Text("value");
    TY_RETURN_IF_ERROR(variable.End());
  }
  TY_RETURN_IF_ERROR(exec.End());
  if (plugin.command.empty()) return Mistake(node, "`exec` has no `command`");
  if (plugin.api_version.empty()) return Mistake(node, "`exec` has no `apiVersion`");
  if (exec.Text("interactiveMode") == "Always")
    return Unusable("the program '" + plugin.command +
                    "' asks its user (interactiveMode: Always): use a token of a service account");
  return plugin;
}

constexpr std::array<std::string_view, 5> kUnsupported{"auth-provider", "username", "password", "as",
                                                       "as-groups"};

Status ReadUser(const YAML::Node& node, const std::string& folder, Access& access) {
  Fields user(node);
  for (const std::string_view name : kUnsupported)
    if (user.Has(name))
      return Unusable("the user's '" + std::string(name) +
                      "' is not supported: use a token, a client certificate or an exec plugin");
  access.token_file = Fields::Absolute(user.Text("tokenFile"), folder);
  if (access.token_file.empty()) access.token = user.Text("token");
  access.certificate = user.ReadPem("client-certificate", folder);
  access.key = user.ReadPem("client-key", folder);
  TY_RETURN_IF_ERROR(user.End());
  if (access.certificate.is_set() != access.key.is_set())
    return Mistake(node, "the user needs both client-certificate and client-key, or none of them");
  if (user.Has("exec")) {
    TY_TRY(access.plugin, ReadPlugin(user.Inner("exec"), folder));
  }
  return {};
}

}  // namespace

Result<Access> ParseKubeconfig(std::string_view text, const std::string& folder, const std::string& context) {
  TY_TRY(const YAML::Node root, wire::LoadYaml(text));
  Fields config(root);
  TY_RETURN_IF_ERROR(config.End());
  Access access;
  access.context = context.empty() ? config.Text("current-context") : context;
  TY_RETURN_IF_ERROR(config.End());
  if (access.context.empty())
    return Unusable(
        "the kubeconfig has no current context: choose one with `kubectl config use-context NAME` or "
        "--kubernetes-context");
  TY_TRY(const YAML::Node used, FindNamed(config, "contexts", "context", access.context));
  Fields fields(used);
  const std::string cluster_name = fields.Text("cluster");
  const std::string user_name = fields.Text("user");
  access.name_space = fields.Text("namespace");
  TY_RETURN_IF_ERROR(fields.End());
  TY_TRY(const YAML::Node cluster, FindNamed(config, "clusters", "cluster", cluster_name));
  TY_RETURN_IF_ERROR(ReadCluster(cluster, folder, access));
  if (user_name.empty()) return access;
  TY_TRY(const YAML::Node user, FindNamed(config, "users", "user", user_name));
  TY_RETURN_IF_ERROR(ReadUser(user, folder, access));
  return access;
}

Result<ExecCredential> ParseExecCredential(std::string_view json) {
  const std::optional<boost::json::object> object = wire::ParseJsonObject(TrimSpace(json));
  if (!object || wire::TextIn(*object, "kind") != "ExecCredential")
    return Unusable("what it printed is no ExecCredential");
  const boost::json::object& status = wire::ObjectIn(*object, "status");
  ExecCredential credential{.token = wire::TextIn(status, "token"),
                            .certificate = wire::TextIn(status, "clientCertificateData"),
                            .key = wire::TextIn(status, "clientKeyData"),
                            .expiration = wire::TextIn(status, "expirationTimestamp")};
  if (credential.certificate.empty() != credential.key.empty())
    return Unusable("it printed a client certificate without its key, or a key without its certificate");
  if (credential.token.empty() && credential.certificate.empty())
    return Unusable("it printed neither a token nor a client certificate");
  return credential;
}

}  // namespace trainyard::kubernetes
