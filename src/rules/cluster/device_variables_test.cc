#include "rules/cluster/device_variables.h"

#include <gmock/gmock.h>

#include "rules/cluster/role.h"

namespace trainyard::cluster {
namespace {

using Variables = std::map<std::string, std::string>;
using ml::v1::TrainingInput;

replica::v1::Manifest Base() {
  replica::v1::Manifest manifest;
  manifest.set_project("my-project");
  manifest.set_region("us-central1");
  manifest.mutable_program()->set_python_module("trainer.task");
  return manifest;
}

TEST(DeviceVariables, NoGpusAreNoGpus) {
  EXPECT_EQ(DeviceVariables(Base()),
            (Variables{{"CUDA_VISIBLE_DEVICES", ""}, {"NVIDIA_VISIBLE_DEVICES", "void"}}));
}

TEST(DeviceVariables, GpusInTheOrderOfTheManifest) {
  replica::v1::Manifest manifest = Base();
  manifest.mutable_devices()->add_gpus("GPU-b");
  manifest.mutable_devices()->add_gpus("GPU-a");
  EXPECT_EQ(DeviceVariables(manifest), (Variables{{"CUDA_VISIBLE_DEVICES", "GPU-b,GPU-a"},
                                                  {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                                  {"NVIDIA_VISIBLE_DEVICES", "GPU-b,GPU-a"}}));
}

TEST(DeviceVariables, ATpuIsNamedAndContainersGetNoEndpoint) {
  replica::v1::Manifest manifest = Base();
  manifest.mutable_devices()->set_tpu_node_name("cmle-training-0-tpu");
  Variables variables = DeviceVariables(manifest);
  EXPECT_EQ(variables.at("TPU_CONFIG"),
            R"({"project": "my-project", "zone": "us-central1-b", "tpu_node_name": "cmle-training-0-tpu"})");
  EXPECT_EQ(variables.at("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"), "cmle-training-0-tpu");
  EXPECT_EQ(variables.at("CUDA_VISIBLE_DEVICES"), "");
  manifest.mutable_program()->clear_python_module();
  variables = DeviceVariables(manifest);
  EXPECT_TRUE(variables.contains("TPU_CONFIG"));
  EXPECT_FALSE(variables.contains("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"));
}

TEST(AcceleratorField, IsTheOneThatAsks) {
  TrainingInput input;
  input.set_scale_tier(TrainingInput::BASIC_GPU);
  EXPECT_EQ(AcceleratorField(input, replica::v1::MASTER), "scale_tier");
  input.set_scale_tier(TrainingInput::CUSTOM);
  input.set_master_type("complex_model_m_gpu");
  EXPECT_EQ(AcceleratorField(input, replica::v1::MASTER), "master_type");
  input.mutable_worker_config()->mutable_accelerator_config()->set_count(2);
  EXPECT_EQ(AcceleratorField(input, replica::v1::WORKER), "worker_config.accelerator_config");
}

}  // namespace
}  // namespace trainyard::cluster
