#include "golden/api/golden_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/wire/error_body.h"
#include "base/wire/json.h"
#include "rules/cluster/scale_tier.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/prepare.h"

namespace trainyard::golden {
namespace {

constexpr SysTime kNow{std::chrono::seconds{1'705'312'800}};  // 2024-01-15T10:00:00Z

std::filesystem::path Folder(const std::string& group) {
  return std::filesystem::path(TRAINYARD_GOLDEN_API) / group;
}

}  // namespace

jobs::ValidationContext Everything() {
  jobs::ValidationContext context{
      .containers = true, .tuning = true, .gpus = true, .tpus = true, .runtimes = {}};
  context.runtimes.push_back({.version = "1.15", .python_versions = {"2.7", "3.7"}});
  for (int minor = 1; minor <= 11; ++minor) {
    context.runtimes.push_back({.version = "2." + std::to_string(minor), .python_versions = {"3.7"}});
  }
  return context;
}

Result<control::v1::JobRecord> Create(const std::string& request) {
  ml::v1::Job job;
  TY_RETURN_IF_ERROR(wire::ParseJson(request, job, "job"));
  TY_RETURN_IF_ERROR(jobs::Validate(job, Everything()));
  jobs::RoleImages containers;
  const std::string& image = job.training_input().master_config().image_uri();
  if (!image.empty() && job.training_input().python_module().empty()) containers[replica::v1::MASTER] = image;
  return jobs::MakeRecord("my-project", job, "2.15", kNow, containers);
}

std::string ResponseText(const Result<control::v1::JobRecord>& made) {
  return made ? wire::PrintJson(made->job()) : wire::PrintErrorBody(made.error());
}

std::string ExpansionText(const control::v1::JobRecord& record) {
  const auto plans = cluster::Expand(record.job().training_input());
  if (!plans) return "";
  std::string text;
  for (const cluster::ReplicaPlan& plan : *plans) {
    char line[200];
    std::snprintf(line, sizeof line, "%-28s %-20s %3g vCPU %8.2f GiB", cluster::TaskName(plan.id()).c_str(),
                  plan.machine_type.c_str(), plan.vcpus, static_cast<double>(plan.memory_bytes) / (1 << 30));
    text += line;
    if (plan.accelerators.count > 0) {
      text += "  " + std::to_string(plan.accelerators.count) + " " +
              ml::v1::AcceleratorConfig::Type_Name(plan.accelerators.type);
    }
    text += "\n";
  }
  char units[60];
  std::snprintf(units, sizeof units, "%.4f ML units an hour\n", cluster::UnitsPerHour(*plans));
  text += units;
  for (const std::string& note : record.notes()) text += "note: " + note + "\n";
  return text;
}

std::vector<std::string> Names(const std::string& group) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(Folder(group)))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::string ReadGolden(const std::string& group, const std::string& name, const std::string& file) {
  std::ifstream in(Folder(group) / name / file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void ExpectGolden(const std::string& group, const std::string& name, const std::string& file,
                  const std::string& text) {
  if (std::getenv("TRAINYARD_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(Folder(group) / name / file, std::ios::binary) << text;
  }
  EXPECT_EQ(ReadGolden(group, name, file), text) << group << "/" << name << "/" << file;
}

}  // namespace trainyard::golden
