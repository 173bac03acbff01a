#include "rules/vertex/runtime_images.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::vertex::runtime_images_test {
namespace {

constexpr const char* kUs = "us-docker.pkg.dev/vertex-ai/training/";

struct Row {
  const char* image;  ///< below kUs
  const char* version;
  const char* python;
};

class PreBuiltImage : public ::testing::TestWithParam<Row> {};

TEST_P(PreBuiltImage, IsARuntimeVersion) {
  const std::string name = GetParam().image;
  const Runtime runtime{.version = GetParam().version, .python = GetParam().python};
  for (const std::string& image : {kUs + name, "europe-docker.pkg.dev/vertex-ai/training/" + name,
                                   "asia-docker.pkg.dev/vertex-ai/training/" + name + ":latest",
                                   "gcr.io/cloud-aiplatform/training/" + name + ":latest"})
    EXPECT_EQ(RuntimeOf(image), runtime) << image;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, PreBuiltImage,
    ::testing::Values(Row{"tf-cpu.2-1", "2.1", "3.7"}, Row{"tf-gpu.2-8", "2.8", "3.7"},
                      Row{"tf-cpu.2-11", "2.11", "3.7"}, Row{"tf-cpu.2-8.py310", "2.15-py310", "3.10"},
                      Row{"tf-gpu.2-12.py310", "2.15-py310", "3.10"},
                      Row{"tf-cpu.2-15.py310", "2.15-py310", "3.10"},
                      Row{"tf-tpu.2-15.cp310", "2.15-py310", "3.10"}, Row{"tf-cpu.2-16.py310", "2.21", ""},
                      Row{"tf-gpu.2-17.py310", "2.21", ""}, Row{"pytorch-gpu.1-4", "pytorch", ""},
                      Row{"pytorch-cpu.1-13.py310", "pytorch", ""}, Row{"pytorch-xla.1-11", "pytorch", ""},
                      Row{"pytorch-gpu.2-0.py310", "pytorch-2.15", ""},
                      Row{"pytorch-xla.2-4.py310", "pytorch-2.15", ""},
                      Row{"scikit-learn-cpu.0-23", "2.15", ""}, Row{"sklearn-cpu.1-6", "2.15", ""},
                      Row{"xgboost-cpu.1-1", "2.15", ""}, Row{"xgboost-gpu.2-1", "2.15", ""}));

TEST(OtherImage, IsNone) {
  for (const char* image :
       {"", "gcr.io/p/tf-cpu.2-8", "us-docker.pkg.dev/vertex-ai/training/tf-cpu",
        "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-12", "us-docker.pkg.dev/vertex-ai/training/tf-cpu.3-1",
        "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-x",
        "us-docker.pkg.dev/vertex-ai/prediction/tf2-cpu.2-8:latest"})
    EXPECT_EQ(RuntimeOf(image), std::nullopt) << image;
}

TEST(ImageOfRuntime, HasThatRuntime) {
  EXPECT_EQ(ImageOf("2.8"), "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest");
  EXPECT_EQ(ImageOf("1.15"), "");
  EXPECT_EQ(ImageOf("2.99"), "");
  for (const char* version : {"2.1", "2.11", "2.15-py310", "2.21", "pytorch", "pytorch-2.15"}) {
    const auto runtime = RuntimeOf(ImageOf(version));
    ASSERT_TRUE(runtime.has_value()) << version;
    EXPECT_EQ(runtime->version, version);
  }
}

TEST(ReductionServer, IsKnownByItsName) {
  EXPECT_TRUE(IsReductionServer("us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest"));
  EXPECT_FALSE(IsReductionServer("gcr.io/p/reductionserver"));
}

}  // namespace
}  // namespace trainyard::vertex::runtime_images_test
