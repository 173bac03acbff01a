#include "rules/algorithms/algorithm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "rules/algorithms/package_files.h"

namespace trainyard::algorithms {
namespace {

using testing::HasSubstr;

/// A table with one argument and one more member.
std::string TableWith(const std::string& argument, const std::string& member = "") {
  return R"({"name": "a", "images": ["a"], "framework": "XGBOOST", "model": "model/", "workers": "none")" +
         (member.empty() ? "" : ", " + member) + R"(, "arguments": [)" + argument + "]}";
}

TEST(Tables, AreAllWell) {
  int tables = 0;
  for (const auto& file : package::Files()) {
    if (!file.name.starts_with("trainyard_algorithms/tables/")) continue;
    const auto read = ParseAlgorithm(file.bytes);
    ASSERT_TRUE(read) << file.name << ": " << read.error().message << "\n"
                      << (read.error().violations.empty() ? "" : read.error().violations[0].description);
    EXPECT_EQ(file.name, "trainyard_algorithms/tables/" + read->name() + ".json");
    EXPECT_FALSE(read->summary().empty() || read->data().empty() || read->example().empty() ||
                 read->metrics().empty());
    ++tables;
  }
  EXPECT_EQ(tables, 7);
}

TEST(Tables, EachHasItsModule) {
  for (const v1::Algorithm& algorithm : Algorithms()) {
    std::string file = ModuleOf(algorithm.name()) + ".py";
    std::ranges::replace(file.begin(), file.end() - 3, '.', '/');
    EXPECT_TRUE(std::ranges::any_of(PackageFiles(), [&](const PackageFile& one) { return one.name == file; }))
        << file;
  }
}

TEST(Images, AreFoundWithAnyTag) {
  for (const char* tag : {"", ":latest", ":v1", "@sha256:0123"}) {
    const v1::Algorithm* found = ForImage("gcr.io/cloud-ml-algos/boosted_trees" + std::string(tag));
    ASSERT_NE(found, nullptr) << tag;
    EXPECT_EQ(found->name(), "boosted_trees");
  }
  EXPECT_EQ(ForImage("gcr.io/cloud-ml-algos/linear_learner_gpu"), Find("linear_learner"));
  EXPECT_EQ(ForImage("gcr.io/cloud-ml-algos/xgboost_dist_v2:latest"), Find("xgboost_dist"));
  EXPECT_EQ(ForImage("gcr.io/cloud-ml-algos/nothing:latest"), nullptr);
  EXPECT_EQ(ForImage("gcr.io/p/boosted_trees:latest"), nullptr);
  EXPECT_EQ(ForImage(""), nullptr);
}

TEST(Images, AreKnownByTheirFolder) {
  EXPECT_TRUE(IsAlgorithmImage("gcr.io/cloud-ml-algos/image_object_detection:latest"));
  EXPECT_FALSE(IsAlgorithmImage("gcr.io/cloud-ml-algos-of-mine/x"));
  EXPECT_FALSE(IsAlgorithmImage(""));
}

TEST(ParseAlgorithm, SaysWhatIsWrong) {
  const auto wrong = [](const std::string& json) {
    const auto read = ParseAlgorithm(json);
    return read ? "nothing" : read.error().message;
  };
  EXPECT_EQ(wrong(TableWith(R"({"name": "x", "type": "int", "default": 3, "help": "X."})")), "nothing");
  EXPECT_THAT(wrong(TableWith(R"({"name": "x", "type": "number", "help": "X."})")), HasSubstr("'number'"));
  EXPECT_THAT(wrong(TableWith(R"({"name": "x", "type": "int"})")), HasSubstr("has no help"));
  EXPECT_THAT(wrong(TableWith(R"({"name": "x", "type": "int", "min": 5, "default": 3, "help": "X."})")),
              HasSubstr("does not take"));
  EXPECT_THAT(wrong(TableWith(R"({"name": "x", "type": "int", "requires": "y", "help": "X."})")),
              HasSubstr("requires what there is not"));
  EXPECT_THAT(wrong(TableWith(R"({"name": "x", "aliases": ["x"], "type": "int", "help": "X."})")),
              HasSubstr("used twice"));
  EXPECT_THAT(wrong(TableWith("", R"("sums": [{"arguments": ["x"], "max": 1}])")),
              HasSubstr("a sum has 'x'"));
  EXPECT_THAT(wrong(TableWith("", R"("colour": "red")")), HasSubstr("colour"));
  EXPECT_THAT(wrong("{}"), HasSubstr("must be given"));
}

}  // namespace
}  // namespace trainyard::algorithms
