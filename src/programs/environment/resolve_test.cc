#include <gtest/gtest.h>

#include "programs/environment/catalogue.h"

namespace trainyard::environment::resolve_test {
namespace {

const Catalogue& BuiltIn() {
  static const Catalogue catalogue = *Catalogue::Load("/nonexistent");
  return catalogue;
}

Error NotSupported(const std::string& version, const std::string& python) {
  return {Code::kInvalidArgument,
          "The specified runtime version '" + version + "' with the Python version '" + python +
              "' is not supported or is deprecated.  Please specify a different runtime version.",
          "runtime_version"};
}

const AvailablePythons kDebian12{{{"3.11", "/usr/bin/python3.11"}}};
const AvailablePythons kWith37{{{"3.11", "/usr/bin/python3.11"}, {"3.7", "/opt/python3.7"}}};
const AvailablePythons kAncient{{{"2.7", "/usr/bin/python2.7"}, {"3.5", "/opt/python3.5"}}};
constexpr auto kNearest = FallbackPolicy::kNearest;
constexpr auto kNone = FallbackPolicy::kNone;

struct Row {
  const char* name;
  const char* version;
  const char* python;
  FallbackPolicy policy;
  const AvailablePythons* available;
  Result<Resolution> expected;
};
class Resolve : public testing::TestWithParam<Row> {};
TEST_P(Resolve, Decides) {
  const Row& row = GetParam();
  EXPECT_EQ(BuiltIn().Resolve(row.version, row.python, row.policy, *row.available), row.expected);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, Resolve,
    testing::Values(
        Row{"default", "", "", kNone, &kDebian12, Resolution{"2.15", "3.11", ""}},
        Row{"default_with_its_python", "", "3.11", kNone, &kDebian12, Resolution{"2.15", "3.11", ""}},
        Row{"exact", "2.21", "3.11", kNone, &kDebian12, Resolution{"2.21", "3.11", ""}},
        Row{"original_python_is_there", "2.11", "3.7", kNone, &kWith37, Resolution{"2.11", "3.7", ""}},
        Row{"highest_python_that_is_there", "1.15", "", kNone, &kWith37, Resolution{"1.15", "3.7", ""}},
        Row{"python_only", "", "3.7", kNone, &kWith37, Resolution{"2.11", "3.7", ""}},
        Row{"nearest_above", "1.15", "", kNearest, &kDebian12,
            Resolution{
                "2.15", "3.11",
                "runtime version 1.15 asks for Python 3.7, which this machine does not have; running with "
                "runtime version 2.15 (Python 3.11, TensorFlow 2.15.1) instead. To install it here: "
                "trainyard runtimes install 1.15 --from-image python:3.7-slim"}},
        Row{"no_python_of_it_is_of_use", "1.4", "", kNearest, &kDebian12,
            Resolution{
                "2.15", "3.11",
                "runtime version 1.4 asks for Python 2.7 or 3.5, for which current tools install no "
                "packages; running with runtime version 2.15 (Python 3.11, TensorFlow 2.15.1) instead"}},
        Row{"another_python_of_the_same_version", "1.15", "2.7", kNearest, &kWith37,
            Resolution{
                "1.15", "3.7",
                "runtime version 1.15 asks for Python 2.7, for which current tools install no packages; "
                "running with runtime version 1.15 (Python 3.7, TensorFlow 1.15.2) instead"}},
        Row{"nearest_without_a_number", "", "3.7", kNearest, &kDebian12,
            Resolution{"2.15", "3.11",
                       "runtime version 2.11 asks for Python 3.7, which this machine does not have; running "
                       "with runtime version 2.15 (Python 3.11, TensorFlow 2.15.1) instead. To install it "
                       "here: trainyard runtimes install 2.11 --from-image python:3.7-slim"}},
        Row{"old_python_is_never_enough", "1.4", "3.5", kNone, &kAncient,
            std::unexpected(
                FailedPrecondition("runtime version 1.4 needs Python 3.5, for which current tools install no "
                                   "packages; allow another version with --runtime-fallback nearest",
                                   "runtime_version"))},
        Row{"none", "2.11", "3.7", kNone, &kDebian12,
            std::unexpected(FailedPrecondition(
                "runtime version 2.11 needs Python 3.7, which this machine does not "
                "have; install it (trainyard runtimes install 2.11 --from-image "
                "python:3.7-slim), or allow another version with --runtime-fallback nearest",
                "runtime_version"))},
        Row{"nothing_can_be_built", "2.1", "", kNearest, &kAncient,
            std::unexpected(
                FailedPrecondition("runtime version 2.1 needs Python 3.7, which this machine does not "
                                   "have, and this machine has the Python for no other version: "
                                   "trainyard runtimes install 2.1 --from-image python:3.7-slim",
                                   "runtime_version"))},
        Row{"unknown_version", "9.9", "", kNearest, &kDebian12, std::unexpected(NotSupported("9.9", ""))},
        Row{"unknown_version_and_python", "1.99", "2.7", kNearest, &kDebian12,
            std::unexpected(NotSupported("1.99", "2.7"))},
        Row{"other_python", "2.15", "3.7", kNearest, &kWith37, std::unexpected(NotSupported("2.15", "3.7"))},
        Row{"unknown_python", "", "4.2", kNearest, &kDebian12, std::unexpected(NotSupported("", "4.2"))},
        Row{"garbage", "../../etc", "x", kNearest, &kDebian12,
            std::unexpected(NotSupported("../../etc", "x"))}),
    [](const auto& row) { return row.param.name; });

const AvailablePythons kWithTorch{{{"3.11", "/usr/bin/python3.11", {"torch"}}}};

TEST(ResolvePytorch, TakesTheSystemsModuleOrANumberedVersion) {
  const Catalogue& catalogue = BuiltIn();
  EXPECT_EQ(catalogue.Resolve("pytorch", "", kNone, kWithTorch), (Resolution{"pytorch", "3.11", ""}));
  const std::string missing =
      "the module torch of the system's Python 3.11 (Debian: apt install python3-torch), which this machine "
      "does not have";
  EXPECT_EQ(catalogue.Resolve("pytorch", "", kNearest, kDebian12),
            (Resolution{"pytorch-2.15", "3.11",
                        "runtime version pytorch asks for " + missing +
                            "; running with runtime version pytorch-2.15 (Python 3.11) instead"}));
  EXPECT_EQ(catalogue.ForGpus({"pytorch-2.15", "3.11", ""}, kDebian12),
            (Resolution{"pytorch-2.15-gpu", "3.11", ""}));
  const Catalogue operators({{.version = "mine", .pythons = {"3.9"}, .gpu_variant = "mine-gpu"},
                             {.version = "mine-1.9", .pythons = {"3.11"}},
                             {.version = "mine-1.10", .pythons = {"3.11"}},
                             {.version = "mine-gpu", .pythons = {"3.11"}}});
  EXPECT_EQ(operators.Resolve("mine", "", kNearest, kDebian12)->version, "mine-1.10");
  EXPECT_EQ(catalogue.Resolve("pytorch", "", kNone, kDebian12).error().message,
            "runtime version pytorch needs " + missing +
                "; install it, or allow another version with --runtime-fallback nearest");
  EXPECT_EQ(MissingFor(*catalogue.Find("pytorch"), kDebian12), missing);
  EXPECT_EQ(MissingFor(*catalogue.Find("pytorch"), kWithTorch), "");
  EXPECT_EQ(MissingFor(*catalogue.Find("2.11"), kDebian12), "Python 3.7, which this machine does not have");
}

TEST(ResolvePython, TakesTheVersionForThatPython) {
  const AvailablePythons both{{{"3.10", "/usr/bin/python3.10"}, {"3.11", "/usr/bin/python3.11"}}};
  const Catalogue& catalogue = BuiltIn();
  EXPECT_EQ(catalogue.Resolve("2.15", "3.10", kNone, both), (Resolution{"2.15-py310", "3.10", ""}));
  EXPECT_EQ(catalogue.Resolve("2.15", "3.11", kNone, both), (Resolution{"2.15", "3.11", ""}));
  EXPECT_EQ(catalogue.Resolve("2.15", "3.9", kNone, both), std::unexpected(NotSupported("2.15", "3.9")));
  EXPECT_EQ(catalogue.ForGpus({"2.15-py310", "3.10", ""}, both), (Resolution{"2.15-py310-gpu", "3.10", ""}));
  EXPECT_EQ(catalogue.PythonsOf(*catalogue.Find("2.15")), (std::vector<std::string>{"3.11", "3.10"}));
  EXPECT_EQ(catalogue.PythonsOf(*catalogue.Find("2.21")), catalogue.Find("2.21")->pythons);
}

TEST(ForGpus, TakesTheVariantWhereItCanBeBuilt) {
  const Catalogue& catalogue = BuiltIn();
  EXPECT_EQ(catalogue.ForGpus({"2.15", "3.11", "note"}, kDebian12), (Resolution{"2.15-gpu", "3.11", "note"}));
  EXPECT_EQ(catalogue.ForGpus({"2.11", "3.7", ""}, kWith37), (Resolution{"2.11-gpu", "3.7", ""}));
  EXPECT_EQ(catalogue.ForGpus({"2.4", "3.7", ""}, kWith37), (Resolution{"2.4", "3.7", ""}));
  EXPECT_EQ(catalogue.ForGpus({"2.15", "3.11", ""}, kAncient), (Resolution{"2.15", "3.11", ""}));
}

TEST(RunsOnGpus, SaysForWhichVersionsThereIsCuda) {
  const Catalogue& catalogue = BuiltIn();
  for (const char* version : {"2.15", "2.15-gpu", "pytorch", "unknown"})
    EXPECT_TRUE(catalogue.RunsOnGpus(version)) << version;
  for (const char* version : {"1.0", "1.15", "2.1", "2.4"})
    EXPECT_FALSE(catalogue.RunsOnGpus(version)) << version;
  EXPECT_TRUE(Catalogue({{.version = "mine", .pythons = {"3.11"}}}).RunsOnGpus("mine")) << "nobody knows";
}

TEST(CommandFor, NamesAnImageThatHasThePython) {
  const Catalogue& catalogue = BuiltIn();
  EXPECT_EQ(CommandFor(*catalogue.Find("2.4")),
            "trainyard runtimes install 2.4 --from-image python:3.7-slim");
  EXPECT_EQ(CommandFor(*catalogue.Find("2.21")),
            "trainyard runtimes install 2.21 --from-image python:3.13-slim");
  EXPECT_EQ(CommandFor(*catalogue.Find("1.4")), "") << "Python 2.7 and 3.5";
  EXPECT_EQ(CommandFor(*catalogue.Find("pytorch")), "") << "the system's";
}

TEST(ResolveBelow, TakesTheHighestLowerOneIfNoneIsAbove) {
  const Catalogue catalogue({{.version = "3.1", .pythons = {"3.11"}},
                             {.version = "3.2", .pythons = {"3.11"}},
                             {.version = "3.3", .pythons = {"3.12"}},
                             {.version = "nightly", .pythons = {"3.11"}}});
  const auto resolution = catalogue.Resolve("3.3", "", kNearest, kDebian12);
  ASSERT_TRUE(resolution);
  EXPECT_EQ(resolution->version, "3.2");
  EXPECT_EQ(catalogue.Resolve("nightly", "", kNone, kDebian12), (Resolution{"nightly", "3.11", ""}));
}

}  // namespace
}  // namespace trainyard::environment::resolve_test
