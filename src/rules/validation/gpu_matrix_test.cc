#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "rules/cluster/machine_type.h"
#include "rules/cluster/region.h"
#include "rules/validation/validate.h"

/// Every cell of the GPU table: 22 machine types, 6 GPU types, 1 to 16 of them, through the rules that
/// jobs.create asks, against the data file as it is read here; and the table of the types of Vertex AI.
namespace trainyard::jobs {
namespace {

namespace json = boost::json;
using ml::v1::AcceleratorConfig;

constexpr AcceleratorConfig::Type kGpus[] = {
    AcceleratorConfig::NVIDIA_TESLA_A100, AcceleratorConfig::NVIDIA_TESLA_K80,
    AcceleratorConfig::NVIDIA_TESLA_P4,   AcceleratorConfig::NVIDIA_TESLA_P100,
    AcceleratorConfig::NVIDIA_TESLA_T4,   AcceleratorConfig::NVIDIA_TESLA_V100};
constexpr std::int64_t kCountMax = 16;

json::value ReadData(const char* path) {
  std::ifstream file(path);
  return json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

const json::object& Matrix() {
  static const json::value kData = ReadData(TRAINYARD_ACCELERATORS);
  return kData.at("matrix").as_object();
}

bool Allowed(std::string_view machine, const std::string& gpu, std::int64_t count) {
  const json::array& counts = Matrix().at(machine).at(gpu).as_array();
  return std::ranges::find(counts, json::value(count)) != counts.end();
}

ml::v1::Job MakeJob(const std::string& role, std::string_view machine, AcceleratorConfig::Type gpu,
                    std::int64_t count) {
  ml::v1::Job job;
  job.set_job_id("j");
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_region("us-central1");
  input.add_package_uris("gs://bucket/t.tar.gz");
  input.set_python_module("t");
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_master_type(std::string(machine));
  AcceleratorConfig* config = input.mutable_master_config()->mutable_accelerator_config();
  if (role == "worker") {
    input.clear_master_config();
    input.set_worker_type(std::string(machine));
    input.set_worker_count(1);
    config = input.mutable_worker_config()->mutable_accelerator_config();
  }
  config->set_type(gpu);
  config->set_count(count);
  return job;
}

class GpuMatrix : public testing::TestWithParam<std::string> {};

TEST_P(GpuMatrix, EveryCellIsWhatTheDataSay) {
  const ValidationContext context{.gpus = true, .runtimes = {}};
  int cells = 0;
  int allowed = 0;
  for (const auto& member : Matrix()) {
    const std::string machine(member.key());
    for (const AcceleratorConfig::Type gpu : kGpus) {
      const std::string gpu_name = AcceleratorConfig::Type_Name(gpu);
      const bool any = !Matrix().at(machine).at(gpu_name).as_array().empty();
      for (std::int64_t count = 1; count <= kCountMax; ++count, ++cells) {
        const Status status = Validate(MakeJob(GetParam(), machine, gpu, count), context);
        EXPECT_EQ(status.has_value(), Allowed(machine, gpu_name, count))
            << machine << " " << gpu_name << " x " << count;
        allowed += status.has_value();
        if (status) continue;
        const std::string field = GetParam() + "_config.accelerator_config." + (any ? "count" : "type");
        EXPECT_EQ(status.error().field, field) << machine << " " << gpu_name << " x " << count;
        EXPECT_NE(status.error().message.find(machine), std::string::npos) << status.error().message;
      }
    }
  }
  EXPECT_EQ(cells, 22 * 6 * 16);
  EXPECT_EQ(allowed, 185) << "cells with a number in the data, counted apart";
}

INSTANTIATE_TEST_SUITE_P(Roles, GpuMatrix, testing::Values("master", "worker"),
                         [](const auto& row) { return row.param; });

TEST(GpuMatrix, HasExactlyTheComputeEngineTypes) {
  for (const cluster::MachineType& machine : cluster::MachineTypes()) {
    const bool compute_engine = machine.category == cluster::MachineType::Category::kComputeEngine;
    EXPECT_EQ(Matrix().contains(machine.name), compute_engine && !machine.is_of_vertex) << machine.name;
  }
  EXPECT_EQ(Matrix().size(), 22U);
}

/// "TYPE COUNT" of all that a row of the table of Vertex AI allows.
std::set<std::string> Brought(const json::value& row) {
  std::set<std::string> brought;
  if (const json::value* list = row.as_object().if_contains("accelerators"))
    for (const json::value& one : list->as_array())
      brought.insert(std::string(one.at("type").as_string()) + " " +
                     std::to_string(one.at("count").as_int64()));
  return brought;
}

/// Also where the original had no GPUs (us-west3): its table of regions says nothing about these machines.
TEST(GpuMatrix, MachinesOfVertexHaveWhatTheyBringAndNothingElse) {
  const ValidationContext context{.gpus = true, .tpus = true, .runtimes = {}};
  const json::value data = ReadData(TRAINYARD_VERTEX_MACHINES);
  int allowed = 0;
  for (const json::value& row : data.at("machine_types").as_array()) {
    const std::string machine(row.at("name").as_string());
    const std::set<std::string> brought = Brought(row);
    for (int type = 1; type < AcceleratorConfig::Type_ARRAYSIZE; ++type) {
      for (const std::int64_t count : {1, 2, 3, 4, 8, 16}) {
        const auto accelerator = static_cast<AcceleratorConfig::Type>(type);
        ml::v1::Job job = MakeJob("master", machine, accelerator, count);
        job.mutable_training_input()->set_region("us-west3");
        const std::string name = AcceleratorConfig::Type_Name(accelerator) + " " + std::to_string(count);
        const bool is_valid = Validate(job, context).has_value();
        EXPECT_EQ(is_valid, brought.contains(name)) << machine << " " << name;
        allowed += is_valid;
      }
    }
  }
  EXPECT_EQ(allowed, 30);
}

}  // namespace
}  // namespace trainyard::jobs
