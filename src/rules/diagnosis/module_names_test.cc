#include "rules/diagnosis/module_names.h"

#include <gtest/gtest.h>

namespace trainyard::diagnosis {
namespace {

TEST(ModuleNames, AMisspelling) {
  EXPECT_EQ(MeantModule("matplotlb"), "matplotlib");
  EXPECT_EQ(MeantModule("tensroflow"), "tensorflow");
  EXPECT_EQ(MeantModule("panda"), "pandas");
  EXPECT_EQ(MeantModule("Numpy"), "numpy");
  EXPECT_EQ(MeantModule("sklearn.modelselection"), "sklearn.model_selection");
}

TEST(ModuleNames, OthersMeanThemselves) {
  for (const char* name :
       {"", "a", "yaml", "numpy", "helpers", "utils", "model", "models", "data", "dataset", "datasets",
        "network", "config", "trainer", "metrics", "torch_xla", "batch", "task"})
    EXPECT_EQ(MeantModule(name), "") << name;
  EXPECT_EQ(MeantModule(std::string(1000, 'n')), "");
}

}  // namespace
}  // namespace trainyard::diagnosis
