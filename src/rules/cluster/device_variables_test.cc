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
  EXPECT_EQ(DeviceVariables(Base(), Sight::kAll),
            (Variables{{"CUDA_VISIBLE_DEVICES", ""}, {"NVIDIA_VISIBLE_DEVICES", "void"}}));
}

TEST(DeviceVariables, GpusInTheOrderOfTheManifest) {
  replica::v1::Manifest manifest = Base();
  manifest.mutable_devices()->add_gpus("GPU-b");
  manifest.mutable_devices()->add_gpus("GPU-a");
  EXPECT_EQ(DeviceVariables(manifest, Sight::kOwn), (Variables{{"CUDA_VISIBLE_DEVICES", "GPU-b,GPU-a"},
                                                               {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                                               {"NVIDIA_VISIBLE_DEVICES", "GPU-b,GPU-a"}}));
}

TEST(DeviceVariables, AnIndexCountsTheGpusThatCanBeOpened) {
  replica::v1::Manifest manifest = Base();
  manifest.mutable_devices()->add_gpus("2");
  manifest.mutable_devices()->add_gpus("3");
  EXPECT_EQ(DeviceVariables(manifest, Sight::kAll).at("CUDA_VISIBLE_DEVICES"), "2,3");
  const Variables own = DeviceVariables(manifest, Sight::kOwn);
  EXPECT_EQ(own.at("CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(own.at("NVIDIA_VISIBLE_DEVICES"), "2,3") << "of the machine, for a container engine";
}

TEST(DeviceVariables, ATpuIsNamedAndContainersGetNoEndpoint) {
  replica::v1::Manifest manifest = Base();
  manifest.mutable_devices()->set_tpu_node_name("cmle-training-0-tpu");
  Variables variables = DeviceVariables(manifest, Sight::kOwn);
  EXPECT_EQ(variables.at("TPU_CONFIG"),
            R"({"project": "my-project", "zone": "us-central1-b", "tpu_node_name": "cmle-training-0-tpu"})");
  EXPECT_EQ(variables.at("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"), "cmle-training-0-tpu");
  EXPECT_EQ(variables.at("CUDA_VISIBLE_DEVICES"), "");
  manifest.mutable_program()->clear_python_module();
  variables = DeviceVariables(manifest, Sight::kOwn);
  EXPECT_TRUE(variables.contains("TPU_CONFIG"));
  EXPECT_FALSE(variables.contains("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"));
}

TEST(DeviceVariables, ChipsOfTheMachinesOwnAreLocal) {
  replica::v1::Manifest manifest = Base();
  manifest.mutable_devices()->set_tpu_node_name("cmle-training-0-tpu");
  manifest.mutable_devices()->add_device_files("/dev/accel0");
  const Variables variables = DeviceVariables(manifest, Sight::kOwn);
  EXPECT_TRUE(variables.contains("TPU_CONFIG"));
  EXPECT_EQ(variables.at("TPU_NAME"), "local");
  EXPECT_EQ(variables.at("TPU_SKIP_MDS_QUERY"), "1");
  EXPECT_EQ(variables.at("TPU_CHIPS_PER_HOST_BOUNDS"), "1,1,1");
  EXPECT_FALSE(variables.contains("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"));
}

TEST(DeviceVariables, APackageIsToldThatTheCpuTakesTheTpusPlace) {
  replica::v1::Manifest manifest = Base();
  manifest.mutable_devices()->set_waiver(replica::v1::Devices::WITHOUT);
  EXPECT_FALSE(DeviceVariables(manifest, Sight::kOwn).contains("TRAINYARD_TPU_AS_CPU"));
  manifest.mutable_devices()->set_waiver(replica::v1::Devices::CPU_FOR_TPU);
  const Variables variables = DeviceVariables(manifest, Sight::kOwn);
  EXPECT_EQ(variables.at("TRAINYARD_TPU_AS_CPU"), "1");
  EXPECT_EQ(variables.at("TPU_CONFIG"),
            R"({"project": "my-project", "zone": "us-central1-b", "tpu_node_name": "local"})");
  EXPECT_EQ(variables.at("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"), "local");
  manifest.mutable_program()->clear_python_module();
  EXPECT_FALSE(DeviceVariables(manifest, Sight::kOwn).contains("TRAINYARD_TPU_AS_CPU"));
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
