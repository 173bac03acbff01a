#include "control/intake/runtime_choice.h"

#include <gtest/gtest.h>

namespace trainyard::control {
namespace {

using environment::Catalogue;
using environment::Resolution;
using ml::v1::TrainingInput;

constexpr char kImage[] = "gcr.io/cloud-ml-public/training/pytorch-gpu.1-11";

class ChooseRuntimeTest : public testing::Test {
 protected:
  Result<Resolution> Choose(const TrainingInput& input) {
    images_ = ImageRuntimes(catalogue_, of_operator_);
    return ChooseRuntime({.catalogue = catalogue_,
                          .images = images_,
                          .version_default = default_,
                          .fallback = environment::FallbackPolicy::kNearest,
                          .pythons = pythons_},
                         input);
  }

  Catalogue catalogue_ = *Catalogue::Load("/nonexistent");
  environment::AvailablePythons pythons_{{{"3.11", "/usr/bin/python3.11", {"torch"}}}};
  std::vector<ImageRuntime> of_operator_;
  std::vector<ImageRuntime> images_;
  std::string default_ = "2.21";
};

TEST_F(ChooseRuntimeTest, NamesNothingOrAVersion) {
  TrainingInput input;
  EXPECT_EQ(Choose(input), (Resolution{"2.21", "3.11", ""}));
  input.set_runtime_version("2.15");
  EXPECT_EQ(Choose(input), (Resolution{"2.15", "3.11", ""}));
}

TEST_F(ChooseRuntimeTest, APythonAloneMeansTheNewestVersionThatComesWithIt) {
  default_ = "2.15";
  TrainingInput input;
  input.set_python_version("3.11");
  EXPECT_EQ(Choose(input), (Resolution{"2.15", "3.11", ""})) << "the default has it";
  const std::string instead = "; running with runtime version 2.15 (Python 3.11, TensorFlow 2.15.1) instead";
  for (const auto& [python, version] :
       {std::pair{"2.7", "1.15"}, std::pair{"3.5", "1.14"}, std::pair{"3.7", "2.11"}}) {
    input.set_python_version(python);
    const Result<Resolution> choice = Choose(input);
    ASSERT_TRUE(choice) << choice.error().message;
    EXPECT_EQ(choice->version, "2.15");
    EXPECT_TRUE(choice->note.starts_with("runtime version " + std::string(version) + " asks for Python " +
                                         python + ", "))
        << choice->note;
    EXPECT_NE(choice->note.find(instead), std::string::npos) << choice->note;
  }
  input.set_python_version("3.6");
  EXPECT_EQ(Choose(input).error().code, Code::kInvalidArgument);
}

TEST_F(ChooseRuntimeTest, AnImageOfTheOriginals) {
  TrainingInput input;
  input.mutable_master_config()->set_image_uri(kImage);
  EXPECT_EQ(Choose(input),
            (Resolution{"pytorch", "3.11",
                        "the image " + std::string(kImage) +
                            " is not pulled; running with runtime version pytorch (Python 3.11) "
                            "instead"}));
}

TEST_F(ChooseRuntimeTest, TheOperatorsPairsComeFirst) {
  of_operator_ = {*ParseImageRuntime("gcr.io/cloud-ml-public/*=2.15"), *ParseImageRuntime("*=2.21")};
  TrainingInput input;
  input.mutable_master_config()->set_image_uri(kImage);
  EXPECT_EQ(Choose(input)->version, "2.15");
  input.mutable_master_config()->set_image_uri("example.com/mine");
  EXPECT_EQ(Choose(input)->version, "2.21");
}

TEST_F(ChooseRuntimeTest, AllReplicasShareOne) {
  of_operator_ = {*ParseImageRuntime("example.com/other=2.15")};
  TrainingInput input;
  input.mutable_master_config()->set_image_uri(kImage);
  input.mutable_worker_config()->set_image_uri("gcr.io/cloud-ml-public/training/pytorch-cpu.1-4");
  EXPECT_TRUE(Choose(input));
  input.mutable_worker_config()->set_image_uri("example.com/other");
  const auto refused = Choose(input);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(),
            InvalidArgument("worker_config.image_uri",
                            "The image stands for runtime version 2.15, the master's for "
                            "pytorch: all replicas of a job with a Python package share one."));
}

TEST(ParseImageRuntime, RefusesWhatIsNone) {
  for (const char* text : {"", "=", "a", "a=", "=b"}) EXPECT_FALSE(ParseImageRuntime(text)) << text;
  EXPECT_EQ(ParseImageRuntime("localhost:5000/a:v1=pytorch"),
            (ImageRuntime{"localhost:5000/a:v1", "pytorch"}));
}

}  // namespace
}  // namespace trainyard::control
