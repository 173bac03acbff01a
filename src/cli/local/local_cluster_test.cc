#include "cli/local/local_cluster.h"

#include <gtest/gtest.h>

namespace trainyard::cli::local_cluster_test {
namespace {

TEST(LocalTfConfig, OfAProcessThatIsAlone) {
  EXPECT_EQ(LocalTfConfig("trainer.task", {"--a", "b c"}),
            R"({"job": {"job_name": "trainer.task", "args": ["--a", "b c"]}, "task": {}, "cluster": {}, )"
            R"("environment": "cloud"})");
}

TEST(LocalTfConfig, OfAWorker) {
  const LocalCluster cluster{.workers = 2, .parameter_servers = 1, .evaluators = 1, .start_port = 27182};
  EXPECT_EQ(LocalTfConfig(cluster, {"worker", 1}, "m", {}),
            R"({"job": {"job_name": "m", "args": []}, "task": {"type": "worker", "index": 1}, "cluster": )"
            R"({"chief": ["localhost:27182"], "ps": ["localhost:27183"], )"
            R"("worker": ["localhost:27184", "localhost:27185"]}, "environment": "cloud"})");
}

TEST(LocalTfConfig, RolesThatNobodyHasAreEmptyLists) {
  const LocalCluster cluster{
      .primary = "master", .workers = 0, .parameter_servers = 0, .evaluators = 0, .start_port = 1};
  EXPECT_EQ(LocalTfConfig(cluster, {"master", 0}, "m", {}),
            R"({"job": {"job_name": "m", "args": []}, "task": {"type": "master", "index": 0}, "cluster": )"
            R"({"master": ["localhost:1"], "ps": [], "worker": []}, "environment": "cloud"})");
}

TEST(Tasks, ThePrimaryStartsLast) {
  std::string order;
  for (const LocalTask& task : Tasks({.workers = 2, .parameter_servers = 1, .evaluators = 1}))
    order += task.type + std::to_string(task.index) + " ";
  EXPECT_EQ(order, "ps0 worker0 worker1 evaluator0 chief0 ");
}

struct Row {
  const char* name;
  std::string_view bytes;
  const char* json;
};
class PythonJson : public testing::TestWithParam<Row> {};
TEST_P(PythonJson, AsJsonDumpsPrintsIt) { EXPECT_EQ(PythonJsonString(GetParam().bytes), GetParam().json); }
INSTANTIATE_TEST_SUITE_P(Rules, PythonJson,
                         testing::Values(Row{"plain", "--x=1", R"("--x=1")"}, Row{"empty", "", R"("")"},
                                         Row{"quotes", "a\"b\\c", R"("a\"b\\c")"},
                                         Row{"controls", "\n\r\t\b\f\x01", R"("\n\r\t\b\f\u0001")"},
                                         Row{"delete", "\x7f", "\"\x7f\""},
                                         Row{"umlaut", "\xc3\xbc", R"("\u00fc")"},
                                         Row{"pair", "\xf0\x9f\x98\x80", R"("\ud83d\ude00")"},
                                         Row{"not_utf8", "a\xff", R"("a\udcff")"},
                                         Row{"cut", "\xe2\x82", R"("\udce2\udc82")"},
                                         Row{"too_long_a_form", "\xc0\x80", R"("\udcc0\udc80")"},
                                         Row{"surrogate", "\xed\xa0\x80", R"("\udced\udca0\udc80")"}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::cli::local_cluster_test
