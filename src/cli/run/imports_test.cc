#include "cli/run/program_package.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

using Names = std::vector<std::string>;

TEST(ImportedModules, FindsEachFormOfImport) {
  EXPECT_EQ(ImportedModules("import os, torch.nn as nn  # import keras\n"
                            "  from tensorflow.keras import layers\n"
                            "from . import near\nfrom .near import x\n"
                            "importlib = 1\nprint('import')\nimport os\nimport numpy"),
            (Names{"os", "torch", "tensorflow", "numpy"}));
}

struct Row {
  const char* name;
  std::vector<PythonSource> sources;
  RuntimeGuess guess;
};
class RuntimeOfImports : public testing::TestWithParam<Row> {};
TEST_P(RuntimeOfImports, IsTheRuntimeVersion) {
  EXPECT_EQ(GuessRuntime(GetParam().sources), GetParam().guess);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, RuntimeOfImports,
    testing::Values(
        Row{"torch", {{"train.py", "import torch\n"}}, {"pytorch-2.15", "train.py imports torch"}},
        Row{"keras", {{"train.py", "import numpy\nimport keras\n"}}, {"2.15", "train.py imports keras"}},
        Row{"by_a_module",
            {{"train.py", "import model\n"}, {"model.py", "import tensorflow as tf\n"}},
            {"2.15", "model.py imports tensorflow"}},
        Row{"the_program_first",
            {{"train.py", "import torchvision\n"}, {"a.py", "import tensorflow\n"}},
            {"pytorch-2.15", "train.py imports torchvision"}},
        Row{"another_program_in_the_folder",
            {{"train.py", "import numpy\n"},
             {"old.py", "import tensorflow\n"},
             {"old/a.py", "import torch\n"}},
            {"", "the program imports neither PyTorch nor TensorFlow"}},
        Row{"by_a_package_of_a_package",
            {{"train.py", "import app.model\n"},
             {"app/model.py", "from . import layers\n"},
             {"app/layers.py", "import torch\n"},
             {"tests/a.py", "import keras\n"}},
            {"pytorch-2.15", "app/layers.py imports torch"}},
        Row{"beside_a_module",
            {{"trainer/task.py", "import model\n"},
             {"model/other.py", ""},
             {"trainer/model.py", "import keras\n"}},
            {"2.15", "trainer/model.py imports keras"}},
        Row{"in_a_circle",
            {{"a.py", "import b\n"}, {"b.py", "import a\nimport torch\n"}},
            {"pytorch-2.15", "b.py imports torch"}},
        Row{"none",
            {{"train.py", "print('torch')\n"}},
            {"", "the program imports neither PyTorch nor TensorFlow"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::cli
