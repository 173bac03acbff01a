#include "rules/warm/mother.h"

#include <gtest/gtest.h>

namespace trainyard::warm {
namespace {

constexpr std::string_view kText =
    "socket 2.15-a.1.sock\nvariable HOME=/w/home\nvariable OMP_NUM_THREADS=4\nvariable LANG=C.UTF-8\n"
    "module numpy\nmodule sklearn.svm\npackage sklearn\npackage numpy\ntop numpy\ntop sklearn\ntop six\n"
    "read HOME\nread BACKEND\nread TF_CONFIG\nready\n";

TEST(ParseMother, ReadsWhatItSaid) {
  const auto mother = ParseMother(kText);
  ASSERT_TRUE(mother);
  EXPECT_EQ(mother->socket, "2.15-a.1.sock");
  EXPECT_EQ(mother->modules, (std::vector<std::string>{"numpy", "sklearn.svm"}));
  EXPECT_EQ(mother->packages, (std::vector<std::string>{"sklearn", "numpy"}));
  EXPECT_TRUE(mother->imported.contains("six"));
  EXPECT_EQ(mother->variables.at("OMP_NUM_THREADS"), "4");
}

TEST(ParseMother, RejectsWhatIsNotWholeOrLeadsElsewhere) {
  for (const std::string_view text :
       {"", "ready\n", "socket a.sock\n", "socket ../a.sock\nready\n", "socket a.sock\nready\ntop x\n"})
    EXPECT_FALSE(ParseMother(text)) << text;
}

struct Row {
  const char* name;
  Variables variables;
  std::vector<std::string> own;
  std::string why;
};

class WhyFreshRules : public testing::TestWithParam<Row> {};

TEST_P(WhyFreshRules, Decides) {
  Start start{.variables = GetParam().variables, .own = GetParam().own};
  start.variables.insert({{"HOME", "/job/home"}, {"OMP_NUM_THREADS", "4"}, {"LANG", "C.UTF-8"}});
  EXPECT_EQ(WhyFresh(start, *ParseMother(kText)), GetParam().why);
}

const std::string kRead = " while they are imported";

INSTANTIATE_TEST_SUITE_P(
    Rules, WhyFreshRules,
    testing::Values(
        Row{"usual", {{"TF_CONFIG", "{}"}, {"TOKEN", "secret"}}, {"trainer", "trainer-0.1.dist-info"}, ""},
        Row{"refused", {{"TRAINYARD_WARM", "0"}}, {}, "the job wants it"},
        Row{"not_refused", {{"TRAINYARD_WARM", "1"}}, {}, ""},
        Row{"read_by_python", {{"BACKEND", "x"}}, {}, "modules read the variable BACKEND" + kRead},
        Row{"read_by_libraries", {{"MKL_CBWR", "x"}}, {}, "modules read the variable MKL_CBWR" + kRead},
        Row{"other_value",
            {{"OMP_NUM_THREADS", "1"}},
            {},
            "modules read the variable OMP_NUM_THREADS" + kRead},
        Row{"hash_seed", {{"PYTHONHASHSEED", "1"}}, {}, "modules read the variable PYTHONHASHSEED" + kRead},
        Row{"gpu",
            {{"CUDA_VISIBLE_DEVICES", "0"}},
            {},
            "modules read the variable CUDA_VISIBLE_DEVICES" + kRead},
        Row{"time_zone", {{"TZ", "UTC"}}, {}, "modules read the variable TZ" + kRead},
        Row{"replaced_package", {}, {"numpy"}, "the job has a module numpy of its own"},
        Row{"replaced_file", {}, {"six.py"}, "the job has a module six of its own"},
        Row{"replaced_library",
            {},
            {"numpy.cpython-311-x86_64-linux-gnu.so"},
            "the job has a module numpy of its own"}),
    [](const auto& row) { return row.param.name; });

TEST(StartLine, NamesTheFirstPackages) {
  Mother mother;
  EXPECT_EQ(StartLine(mother), "Starting in a warm interpreter (modules of Python were already imported).");
  mother.packages = {"tensorflow", "keras"};
  EXPECT_EQ(StartLine(mother), "Starting in a warm interpreter (tensorflow, keras were already imported).");
  mother.packages = {"a", "b", "c", "d", "e", "f", "g", "h"};
  EXPECT_EQ(StartLine(mother),
            "Starting in a warm interpreter (a, b, c, d, e, f and 2 more were already imported).");
}

}  // namespace
}  // namespace trainyard::warm
