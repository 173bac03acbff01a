#include "rules/kubernetes/kubeconfig.h"

#include <gmock/gmock.h>

namespace trainyard::kubernetes {
namespace {

using testing::HasSubstr;

constexpr const char* kBlock = R"(apiVersion: v1
kind: Config
preferences: {}
current-context: main
contexts:
- name: main
  context:
    cluster: farm
    user: ada
    namespace: research
- name: other
  context: {cluster: hill, user: file}
clusters:
- name: farm
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: Q0VSVA==
    tls-server-name: kubernetes
    proxy-url: http://proxy:3128
- name: hill
  cluster:
    server: https://hill.example/k8s/clusters/c-1
    certificate-authority: pki/ca.crt
users:
- name: ada
  user:
    token: abc
- name: file
  user:
    token: old
    tokenFile: /run/token
- name: pair
  user:
    client-certificate: /pki/ada.crt
    client-key-data: S0VZ
)";

TEST(Kubeconfig, BlockStyle) {
  const Result<Access> access = ParseKubeconfig(kBlock, "/home/ada/.kube", "");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->authority, (Pem{.text = "CERT"}));
  EXPECT_EQ(access->tls_server_name, "kubernetes");
  EXPECT_EQ(access->proxy, "http://proxy:3128");
  EXPECT_EQ(access->name_space, "research");
  EXPECT_EQ(access->context, "main");
  EXPECT_EQ(access->token, "abc");
  EXPECT_FALSE(access->plugin);
  EXPECT_FALSE(access->certificate.is_set());
}

TEST(Kubeconfig, AnotherContextWithRelativePaths) {
  const Result<Access> access = ParseKubeconfig(kBlock, "/home/ada/.kube", "other");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://hill.example/k8s/clusters/c-1");
  EXPECT_EQ(access->authority, (Pem{.file = "/home/ada/.kube/pki/ca.crt"}));
  EXPECT_EQ(access->token_file, "/run/token");
  EXPECT_EQ(access->token, "") << "the file is newer";
  EXPECT_EQ(access->name_space, "");
}

TEST(Kubeconfig, FlowStyleWithAClientCertificate) {
  const Result<Access> access = ParseKubeconfig(
      R"({apiVersion: v1, kind: Config, current-context: c,
 clusters: [{name: k, cluster: {server: "https://127.0.0.1:1", certificate-authority: ca.crt}}],
 contexts: [{name: c, context: {cluster: k, user: u}}],
 users: [{name: u, user: {client-certificate: /pki/a.crt, client-key-data: S0VZ}}]})",
      "/etc", "");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->certificate, (Pem{.file = "/pki/a.crt"}));
  EXPECT_EQ(access->key, (Pem{.text = "KEY"}));
  EXPECT_EQ(access->authority, (Pem{.file = "/etc/ca.crt"}));
}

std::string WithUser(const std::string& user, const std::string& cluster = "server: https://h") {
  return "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, "
         "cluster: {" +
         cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
}

TEST(Kubeconfig, ExecPlugin) {
  const Result<Access> access = ParseKubeconfig(
      WithUser("exec: {apiVersion: client.authentication.k8s.io/v1, command: ./aws, args: [eks, "
               "--name, 1], env: [{name: A, value: b}], provideClusterInfo: true, "
               "installHint: Install it., interactiveMode: IfAvailable}"),
      "/etc", "");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->plugin, (ExecPlugin{.command = "/etc/./aws",
                                        .arguments = {"eks", "--name", "1"},
                                        .variables = {{"A", "b"}},
                                        .api_version = "client.authentication.k8s.io/v1",
                                        .install_hint = "Install it.",
                                        .wants_cluster = true}));
  EXPECT_EQ(ParseKubeconfig(WithUser("exec: {apiVersion: v1, command: aws}"), "/etc", "")->plugin->command,
            "aws");
}

struct Row {
  const char* name;
  std::string text;
  Code code;
  const char* words;
};

TEST(Kubeconfig, SaysWhatIsWrong) {
  for (const Row& row : {
           Row{"no_yaml", "a: [", Code::kInvalidArgument, "line "},
           Row{"a_text", "hello", Code::kInvalidArgument, "line 1: this must be a mapping"},
           Row{"empty", "", Code::kFailedPrecondition, "no current context"},
           Row{"no_list", "current-context: c\ncontexts: 7\n", Code::kInvalidArgument,
               "line 2: `contexts` must be a list"},
           Row{"no_context", "current-context: c\n", Code::kFailedPrecondition, "no context 'c'"},
           Row{"no_cluster", "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n",
               Code::kFailedPrecondition, "no cluster 'k'"},
           Row{"no_server", WithUser("", "tls-server-name: x"), Code::kInvalidArgument,
               "line 3: the cluster's `server` must be"},
           Row{"no_base64", WithUser("", "server: https://h, certificate-authority-data: '%'"),
               Code::kInvalidArgument, "line 3: `certificate-authority-data` is not base64"},
           Row{"insecure", WithUser("", "server: https://h, insecure-skip-tls-verify: true"),
               Code::kFailedPrecondition, "insecure-skip-tls-verify is not supported"},
           Row{"no_flag", WithUser("", "server: https://h, insecure-skip-tls-verify: 1"),
               Code::kInvalidArgument, "line 3: `insecure-skip-tls-verify` must be true or false"},
           Row{"password", WithUser("username: a, password: b"), Code::kFailedPrecondition,
               "'username' is not supported"},
           Row{"provider", WithUser("auth-provider: {name: gcp}"), Code::kFailedPrecondition,
               "'auth-provider' is not supported"},
           Row{"no_key", WithUser("client-certificate: a"), Code::kInvalidArgument,
               "line 4: the user needs both"},
           Row{"no_command", WithUser("exec: {apiVersion: v1}"), Code::kInvalidArgument,
               "line 4: `exec` has no `command`"},
           Row{"interactive", WithUser("exec: {apiVersion: v1, command: a, interactiveMode: Always}"),
               Code::kFailedPrecondition, "asks its user"},
       }) {
    const Result<Access> access = ParseKubeconfig(row.text, "/etc", "");
    ASSERT_FALSE(access) << row.name;
    EXPECT_EQ(access.error().code, row.code) << row.name;
    EXPECT_THAT(access.error().message, HasSubstr(row.words)) << row.name;
  }
}

TEST(Kubeconfig, NullListsAreEmpty) {
  EXPECT_EQ(ParseKubeconfig("current-context: c\ncontexts: null\nclusters: null\n", "/etc", "").error().code,
            Code::kFailedPrecondition);
}

TEST(ExecCredentialText, TokenOrCertificate) {
  const Result<ExecCredential> token = ParseExecCredential(
      R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "spec": {},
          "status": {"token": "abc", "expirationTimestamp": "2026-11-30T10:00:00Z"}})");
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->token, "abc");
  EXPECT_EQ(token->expiration, "2026-11-30T10:00:00Z");
  const Result<ExecCredential> pair = ParseExecCredential(
      R"({"kind": "ExecCredential", "status": {"clientCertificateData": "C", "clientKeyData": "K"}})");
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_EQ(pair->certificate, "C");
  EXPECT_EQ(pair->key, "K");
  for (const char* text : {"", "{}", "error: no", R"({"kind": "ExecCredential"})",
                           R"({"kind": "ExecCredential", "status": {"clientKeyData": "K"}})"})
    EXPECT_EQ(ParseExecCredential(text).error().code, Code::kFailedPrecondition) << text;
}

}  // namespace
}  // namespace trainyard::kubernetes
