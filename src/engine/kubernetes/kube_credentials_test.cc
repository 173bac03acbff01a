#include "engine/kubernetes/kube_credentials.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"
#include "base/wire/time.h"

namespace trainyard::engine {
namespace {

using kubernetes::Access;
using kubernetes::ExecPlugin;
using testing::HasSubstr;
using testing::StartsWith;

class KubeTestClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return now; }
  SysTime now = wire::ParseTime("2026-11-30T10:00:00Z").value();
};

std::string Kubeconfig(const std::string& token) {
  return "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: {server: https://h}}]\nusers: [{name: u, user: {token: " +
         token + "}}]\n";
}

class KubeCredentialsTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    EXPECT_TRUE(MakeFolders(FolderOf(path)));
    EXPECT_TRUE(WriteFileAtomically(path, text));
    return path;
  }
  /// A program that counts its runs in the file "runs", and then does what the script says.
  std::string WritePlugin(const std::string& script) {
    const std::string path = Write("plugin", "#!/bin/sh\necho x >>" + folder_.path() + "/runs\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  [[nodiscard]] std::size_t RunsOfPlugin() const {
    return ReadFile(folder_.path() + "/runs").value_or("").size() / 2;
  }

  TemporaryFolder folder_;
  KubeTestClock clock_;
  PluginSurroundings surroundings_{.variables = {{"PATH", "/usr/bin:/bin"}}};
};

TEST_F(KubeCredentialsTest, LooksInTheOrderOfKubectl) {
  KubePlaces places{.account_folder = folder_.path() + "/account"};
  EXPECT_EQ(FindAccess(places).error().code, Code::kNotFound);
  EXPECT_THAT(FindAccess(places).error().message, HasSubstr("--kubeconfig"));

  Write("account/token", "of-the-pod\n");
  Write("account/namespace", "jobs\n");
  EXPECT_FALSE(FindAccess(places)) << "it does not run in a pod";
  places.variables = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  const Result<Access> pod = FindAccess(places);
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->server, "https://[fd00::1]:443");
  EXPECT_EQ(pod->name_space, "jobs");
  EXPECT_EQ(pod->authority.file, places.account_folder + "/ca.crt");
  EXPECT_EQ(pod->token_file, places.account_folder + "/token");

  Write("home/.kube/config", Kubeconfig("usual"));
  places.variables["HOME"] = folder_.path() + "/home";
  EXPECT_EQ(FindAccess(places)->token, "usual");
  const std::string second = Write("second", Kubeconfig("second"));
  places.variables["KUBECONFIG"] =
      folder_.path() + "/nowhere::" + second + ":" + Write("third", Kubeconfig("third"));
  EXPECT_EQ(FindAccess(places)->token, "second");
  places.variables["KUBECONFIG"] = "/nowhere";
  EXPECT_EQ(FindAccess(places).error(),
            NotFound("the kubeconfig that KUBECONFIG names does not exist: /nowhere"));
  places.kubeconfig = Write("set", Kubeconfig("set"));
  EXPECT_EQ(FindAccess(places)->token, "set");
  places.context = "other";
  EXPECT_EQ(FindAccess(places).error(),
            FailedPrecondition(places.kubeconfig + ": the kubeconfig has no context 'other'"));
  places.kubeconfig = "/nowhere";
  EXPECT_THAT(FindAccess(places).error().message, StartsWith("cannot read the kubeconfig: "));
}

TEST_F(KubeCredentialsTest, ATokenFileIsReadAgainEachMinute) {
  const std::string file = Write("token", "first\n");
  KubeCredentials credentials({.token_file = file}, surroundings_, clock_);
  EXPECT_EQ(credentials.Get()->token, "first");
  Write("token", "second\n");
  EXPECT_EQ(credentials.Get()->token, "first");
  clock_.now += std::chrono::seconds(60);
  EXPECT_EQ(credentials.Get()->token, "second");
  Write("token", "third\n");
  credentials.Refuse({.token = "first"});
  EXPECT_EQ(credentials.Get()->token, "second") << "another one was refused";
  credentials.Refuse({.token = "second"});
  EXPECT_EQ(credentials.Get()->token, "third");
  std::filesystem::remove(file);
  clock_.now += std::chrono::seconds(60);
  EXPECT_FALSE(credentials.Get());
}

TEST_F(KubeCredentialsTest, ClientCertificatesComeFromTextsAndFiles) {
  KubeCredentials credentials({.certificate = {.file = Write("crt", "CERTIFICATE")}, .key = {.text = "KEY"}},
                              surroundings_, clock_);
  EXPECT_EQ(credentials.Get(), (KubeLogin{.certificate = "CERTIFICATE", .key = "KEY"}));
  KubeCredentials missing({.certificate = {.file = "/nowhere"}, .key = {.text = "KEY"}}, surroundings_,
                          clock_);
  EXPECT_EQ(missing.Get().error().code, Code::kNotFound);
}

TEST_F(KubeCredentialsTest, AfterARefusalTheKubeconfigIsReadAgain) {
  const KubePlaces places{.kubeconfig = Write("config", Kubeconfig("first"))};
  KubeCredentials credentials(FindAccess(places).value(), surroundings_, clock_,
                              [places] { return FindAccess(places); });
  EXPECT_EQ(credentials.Get()->token, "first");
  Write("config", Kubeconfig("second"));
  clock_.now += std::chrono::hours(1);
  EXPECT_EQ(credentials.Get()->token, "first");
  credentials.Refuse({.token = "first"});
  EXPECT_EQ(credentials.Get()->token, "second");
  Write("config", "[");
  credentials.Refuse({.token = "second"});
  EXPECT_EQ(credentials.Get()->token, "second") << "what was known last";
}

TEST_F(KubeCredentialsTest, APluginsTokenIsUsedUntilItExpires) {
  const std::string command = WritePlugin(
      "echo a warning >&2\n"
      "echo \"$KUBERNETES_EXEC_INFO\" >\"$WHERE\"\n"
      R"(echo '{"kind": "ExecCredential", "status": {"token": "'$1-$A'",'
echo '"expirationTimestamp": "2026-11-30T10:15:00Z"}}')");
  const std::string info = folder_.path() + "/info";
  KubeCredentials credentials({.server = "https://h:6443",
                               .authority = {.text = "CA"},
                               .tls_server_name = "kubernetes",
                               .plugin = ExecPlugin{.command = command,
                                                    .arguments = {"token"},
                                                    .variables = {{"A", "b"}, {"WHERE", info}},
                                                    .api_version = "client.authentication.k8s.io/v1",
                                                    .wants_cluster = true}},
                              surroundings_, clock_);
  const Result<KubeLogin> login = credentials.Get();
  ASSERT_TRUE(login) << login.error().message;
  EXPECT_EQ(*login, (KubeLogin{.token = "token-b"}));
  EXPECT_EQ(
      ReadFile(info).value(),
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false,)"
      R"("cluster":{"server":"https://h:6443","tls-server-name":"kubernetes",)"
      R"("certificate-authority-data":"Q0E="}}})"
      "\n");
  clock_.now = wire::ParseTime("2026-11-30T10:14:49Z").value();
  EXPECT_TRUE(credentials.Get());
  EXPECT_EQ(RunsOfPlugin(), 1u);
  clock_.now += std::chrono::seconds(1);
  EXPECT_TRUE(credentials.Get());
  EXPECT_EQ(RunsOfPlugin(), 2u) << "ten seconds before it expires";
}

TEST_F(KubeCredentialsTest, APluginIsRunAgainAfterARefusal) {
  const std::string command = WritePlugin(
      R"(echo '{"kind": "ExecCredential", "status": {"clientCertificateData": "C", "clientKeyData": "K"}}')");
  KubeCredentials credentials({.plugin = ExecPlugin{.command = command, .api_version = "v1"}}, surroundings_,
                              clock_);
  const KubeLogin login{.certificate = "C", .key = "K"};
  EXPECT_EQ(credentials.Get(), login);
  EXPECT_EQ(credentials.Get(), login);
  EXPECT_EQ(RunsOfPlugin(), 1u);
  credentials.Refuse(login);
  EXPECT_EQ(credentials.Get(), login);
  EXPECT_EQ(RunsOfPlugin(), 2u);
}

TEST_F(KubeCredentialsTest, ThreadsShareOneRunOfThePlugin) {
  // The plugin ends when all threads have begun, so that none finds its token.
  const std::string gate = folder_.path() + "/gate";
  const std::string command = WritePlugin("while ! test -e " + gate + "; do sleep 0.01; done\n" +
                                          R"(echo '{"kind": "ExecCredential", "status": {"token": "t"}}')");
  KubeCredentials credentials({.plugin = ExecPlugin{.command = command, .api_version = "v1"}}, surroundings_,
                              clock_);
  std::atomic<int> begun = 0;
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        ++begun;
        if (credentials.Get() == KubeLogin{.token = "t"}) ++good;
      });
    while (begun < 4) std::this_thread::yield();
    Write("gate", "");
  }
  EXPECT_EQ(good, 4);
  EXPECT_EQ(RunsOfPlugin(), 1u);
}

TEST_F(KubeCredentialsTest, SaysWhyAPluginGivesNothing) {
  struct Row {
    const char* script;
    Code code;
    std::string words;
  };
  for (const Row& row :
       {Row{"echo first >&2; echo 'not logged in' >&2; exit 3", Code::kFailedPrecondition,
            "it failed with exit code 3: not logged in"},
        Row{"kill -9 $$", Code::kFailedPrecondition, "it was ended by signal 9"},
        Row{"echo hello", Code::kFailedPrecondition, "what it printed is no ExecCredential"}}) {
    const std::string command = WritePlugin(row.script);
    KubeCredentials credentials({.plugin = ExecPlugin{.command = command, .api_version = "v1"}},
                                surroundings_, clock_);
    EXPECT_EQ(credentials.Get().error(),
              (Error{row.code, "the kubeconfig's program " + command + ": " + row.words, ""}));
  }
  KubeCredentials nowhere(
      {.plugin = ExecPlugin{.command = "/nowhere", .api_version = "v1", .install_hint = "Install it.\n"}},
      surroundings_, clock_);
  EXPECT_EQ(nowhere.Get().error().code, Code::kNotFound);
  EXPECT_THAT(nowhere.Get().error().message, HasSubstr("No such file or directory: Install it."));
  surroundings_.wait_max = std::chrono::milliseconds(1);
  KubeCredentials slow({.plugin = ExecPlugin{.command = WritePlugin("sleep 60"), .api_version = "v1"}},
                       surroundings_, clock_);
  EXPECT_EQ(slow.Get().error().code, Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace trainyard::engine
