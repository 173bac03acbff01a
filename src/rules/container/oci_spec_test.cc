#include "rules/container/oci_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace trainyard::container {
namespace {

using testing::HasSubstr;
using testing::Not;

boost::json::value Printed(const Spec& spec) { return boost::json::parse(PrintSpec(spec)); }

TEST(PrintSpecTest, SaysWhatRuns) {
  const auto printed = Printed({.args = {"/bin/sh", "-c", "echo \"hi\"\n"},
                                .environment = {"A=b", "PATH=/bin"},
                                .working_dir = "/app",
                                .user = {.uid = 1000, .gid = 1001, .groups = {44}},
                                .root = "/data/root"});
  EXPECT_EQ(printed.at("process").at("args"), (boost::json::array{"/bin/sh", "-c", "echo \"hi\"\n"}));
  EXPECT_EQ(printed.at("process").at("env"), (boost::json::array{"A=b", "PATH=/bin"}));
  EXPECT_EQ(printed.at("process").at("cwd"), "/app");
  EXPECT_EQ(printed.at("process").at("user"),
            (boost::json::object{{"uid", 1000}, {"gid", 1001}, {"additionalGids", boost::json::array{44}}}));
  EXPECT_EQ(printed.at("root"), (boost::json::object{{"path", "/data/root"}, {"readonly", false}}));
  EXPECT_EQ(
      printed.at("linux").at("namespaces"),
      (boost::json::array{boost::json::object{{"type", "pid"}}, boost::json::object{{"type", "mount"}}}));
}

TEST(PrintSpecTest, GivesRightsToRootOnly) {
  const auto root = Printed({.args = {"x"}}).at("process").at("capabilities");
  EXPECT_EQ(root.at("effective"), root.at("bounding"));
  const auto user = Printed({.args = {"x"}, .user = {.uid = 5}}).at("process").at("capabilities");
  EXPECT_EQ(user.at("effective"), boost::json::array());
  EXPECT_EQ(user.at("bounding"), root.at("bounding"));
  for (const char* right : {"CAP_MKNOD", "CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_SYS_ADMIN", "CAP_SYS_PTRACE"})
    EXPECT_THAT(PrintSpec({.args = {"x"}}), Not(HasSubstr(right)));
}

TEST(PrintSpecTest, ConfinesTheProgram) {
  const auto printed = Printed({.args = {"x"}});
  EXPECT_EQ(printed.at("process").at("noNewPrivileges"), true);
  EXPECT_EQ(printed.at("process").at("capabilities").as_object().size(), 3U) << "none is inherited";
  EXPECT_EQ(printed.at("linux").at("seccomp"), boost::json::parse(PrintSeccomp()));
  EXPECT_EQ(printed.at("annotations").at("run.oci.seccomp_bpf_data"),
            boost::json::string(EncodeSeccompFilter()));
}

TEST(PrintSpecTest, MountsWhatIsAskedFor) {
  const std::string text = PrintSpec({.args = {"x"},
                                      .binds = {{"/a", "/b", true}, {"/c", "/d"}, {"/e", "/f", false, true}},
                                      .devices = {{"/dev/nvidia0", 'c', 195, 0}},
                                      .shared_memory_bytes = 1 << 20});
  EXPECT_THAT(
      text,
      HasSubstr(R"({"destination":"/b","type":"bind","source":"/a","options":["rbind","rprivate","ro"]})"));
  EXPECT_THAT(text, HasSubstr(R"("options":["rbind","rprivate","rw"])"));
  EXPECT_THAT(text, HasSubstr(R"("source":"/e","options":["rbind","rprivate","rw","nosuid","nodev"])"));
  EXPECT_THAT(text, HasSubstr(R"("mode=1777","size=1048576"])"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"({"path":"/dev/nvidia0","type":"c","major":195,"minor":0,"fileMode":438,"uid":0,"gid":0})"));
}

TEST(PrintSpecTest, LeavesGroupsOutOfAUserNamespace) {
  EXPECT_THAT(PrintSpec({.args = {"x"}}), HasSubstr("gid=5"));
  EXPECT_THAT(PrintSpec({.args = {"x"}, .in_user_namespace = true}), Not(HasSubstr("gid=5")));
}

TEST(PrintSpecTest, KeepsTheOrderOfHooks) {
  const auto printed = Printed({.args = {"x"},
                                .hooks = {{"createContainer", "/usr/bin/h", {"h", "1"}, {}},
                                          {"startContainer", "/usr/bin/s", {"s"}, {"A=b"}},
                                          {"createContainer", "/usr/bin/h", {"h", "2"}, {}}}});
  const auto& hooks = printed.at("hooks");
  EXPECT_EQ(hooks.at("createContainer").as_array().size(), 2U);
  EXPECT_EQ(hooks.at("createContainer").at(1).at("args"), (boost::json::array{"h", "2"}));
  EXPECT_EQ(hooks.at("startContainer").at(0).at("env"), (boost::json::array{"A=b"}));
}

}  // namespace
}  // namespace trainyard::container
