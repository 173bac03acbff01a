#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rules/vertex/custom_job.h"
#include "rules/vertex/testing/parse.h"
#include "rules/vertex/testing/parse_jobs.h"
#include "rules/vertex/training_pipeline.h"
#include "rules/vertex/tuning_job.h"

/// A field of a request changes the job, is rejected by an error that names it, or has no effect, and then a
/// remark names it. The test writes docs/vertex-fields.md.
namespace trainyard::vertex::every_field_test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using MessagePtr = std::unique_ptr<Message>;
using Path = std::vector<const FieldDescriptor*>;

/// In the order in which one outdoes the other, when different values of a field have different fates.
enum class Fate { kIgnored, kRefused, kNoEffect, kMeantInPart, kMeant };

std::string_view Say(Fate fate) {
  switch (fate) {
    case Fate::kMeant: return "means the same";
    case Fate::kMeantInPart: return "means nearly the same; the job's log says what differs";
    case Fate::kNoEffect: return "no effect; the job's log says so";
    case Fate::kRefused: return "rejected; the error names it";
    case Fate::kIgnored: return "IGNORED";
  }
  return "";
}

constexpr std::string_view kPools = R"([
  {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1, "TASK"},
  {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 2, "TASK"}])";
constexpr std::string_view kPackage =
    R"("pythonPackageSpec": {"executorImageUri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest",
      "packageUris": ["gs://b/t.tar.gz"], "pythonModule": "t.task"})";
constexpr std::string_view kContainer = R"("containerSpec": {"imageUri": "gcr.io/p/i"})";

std::string With(std::string_view pools, std::string_view task) {
  std::string text(pools);
  for (std::size_t at = 0; (at = text.find("\"TASK\"", at)) != std::string::npos;) text.replace(at, 6, task);
  return text;
}

aip::CustomJob CustomJobWith(std::string_view task) { return testing::WithPools(With(kPools, task)); }

/// One pool with one replica.
aip::CustomJob OnMachine(std::string_view machine, std::string_view task = kContainer) {
  return testing::WithPools(
      With(R"([{"replicaCount": 1, "TASK", "machineSpec": {)" + std::string(machine) + "}}]", task));
}

aip::HyperparameterTuningJob TuningJobWith(std::string_view parameter) {
  return testing::ParseTuningJob(
      With(std::string(R"({"displayName": "d", "maxTrialCount": 4, "parallelTrialCount": 2, "studySpec": {
        "metrics": [{"metricId": "m", "goal": "MAXIMIZE"}], "parameters": [{"parameterId": "p", )") +
               std::string(parameter) + R"(}]}, "trialJobSpec": {"workerPoolSpecs": )" + std::string(kPools) +
               "}}",
           kPackage));
}

/// Its parameter has another one that depends on it.
aip::HyperparameterTuningJob Conditional(std::string_view parameter, std::string_view condition) {
  return TuningJobWith(std::string(parameter) + R"(, "conditionalParameterSpecs": [{)" +
                       std::string(condition) +
                       R"(, "parameterSpec": {"parameterId": "q", "doubleValueSpec": {"maxValue": 1}}}])");
}

aip::TrainingPipeline Pipeline() {
  return testing::ParsePipeline(
      R"({"displayName": "d", "trainingTaskDefinition": "gs://x/custom_task_1.0.0.yaml",
          "trainingTaskInputs": {"worker_pool_specs": )" +
      With(kPools, kPackage) + "}}");
}

/// One kind of job, and requests of it that are right.
struct Kind {
  std::string_view title;
  std::vector<MessagePtr> bases;
  std::function<Result<Translated>(const Message&)> translate;
};

template <class Job>
Kind KindOf(std::string_view title, std::vector<Job> bases) {
  Kind kind{.title = title, .bases = {}, .translate = [](const Message& asked) {
              return JobOf(static_cast<const Job&>(asked), "us-central1", 1'000'000'000'000'000'001);
            }};
  for (Job& base : bases) kind.bases.push_back(std::make_unique<Job>(std::move(base)));
  return kind;
}

std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  kinds.push_back(KindOf<aip::CustomJob>(
      "CustomJob", {CustomJobWith(kPackage), CustomJobWith(kContainer),
                    OnMachine(R"("machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4",
                                 "acceleratorCount": 2)"),
                    OnMachine(R"("machineType": "ct5lp-hightpu-1t")"),
                    OnMachine(R"("machineType": "n1-standard-8")", kPackage)}));
  kinds.push_back(KindOf<aip::HyperparameterTuningJob>(
      "HyperparameterTuningJob", {TuningJobWith(R"("doubleValueSpec": {"minValue": 1, "maxValue": 2})"),
                                  TuningJobWith(R"("integerValueSpec": {"minValue": 1, "maxValue": 2})"),
                                  TuningJobWith(R"("discreteValueSpec": {"values": [1, 2]})"),
                                  TuningJobWith(R"("categoricalValueSpec": {"values": ["a", "b"]})"),
                                  Conditional(R"("integerValueSpec": {"minValue": 1, "maxValue": 2})",
                                              R"("parentIntValues": {"values": [1]})"),
                                  Conditional(R"("discreteValueSpec": {"values": [1, 2]})",
                                              R"("parentDiscreteValues": {"values": [1]})"),
                                  Conditional(R"("categoricalValueSpec": {"values": ["a", "b"]})",
                                              R"("parentCategoricalValues": {"values": ["a"]})")}));
  kinds.push_back(KindOf<aip::TrainingPipeline>("TrainingPipeline", {Pipeline()}));
  return kinds;
}

/// What is not looked at with values of its own, and why.
const std::map<std::string, std::string, std::less<>>& Known() {
  static const auto* const kKnown = [] {
    auto* known = new std::map<std::string, std::string, std::less<>>{
        {"HyperparameterTuningJob.trial_job_spec", "as `CustomJob.job_spec`"},
        {"TrainingPipeline.training_task_inputs",
         "as `CustomJob.job_spec`, or as the members of `HyperparameterTuningJob`; names in snake_case and "
         "camelCase, numbers as numbers or texts"},
        {"TrainingPipeline.training_task_metadata", "output"},
        {"TrainingPipeline.training_task_definition",
         "`custom_task_1.0.0.yaml` and `hyperparameter_tuning_task_1.0.0.yaml`; others are rejected"},
        {"TrainingPipeline.model_to_upload", "kept: `models.get` answers it after success"},
        {"HyperparameterTuningJob.trials", "output"},
        {"HyperparameterTuningJob.study_spec.parameters.conditional_parameter_specs.parameter_spec",
         "as `study_spec.parameters[]`"}};
    for (const std::string kind : {"CustomJob", "HyperparameterTuningJob", "TrainingPipeline"})
      for (const std::string field :
           {"name", "state", "create_time", "start_time", "end_time", "update_time", "error"})
        known->emplace(kind + "." + field, "output");
    for (const std::string kind : {"CustomJob", "HyperparameterTuningJob"})
      for (const std::string field : {"satisfies_pzs", "satisfies_pzi"})
        known->emplace(kind + "." + field, "output");
    known->emplace("CustomJob.web_access_uris", "output");
    return known;
  }();
  return *kKnown;
}

bool IsLeaf(const FieldDescriptor& field) {
  return field.message_type() == nullptr || field.is_map() ||
         field.message_type()->file()->package() == "google.protobuf";
}

constexpr std::string_view kTexts[] = {
    "x",           "gs://b/x", "n1-highmem-8",
    "pd-standard", "1x1",      "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-9:latest"};
constexpr int kNumbers[] = {1, 3, 200, -1};

std::size_t CountOfValues(const FieldDescriptor& field) {
  if (field.enum_type() != nullptr) return static_cast<std::size_t>(field.enum_type()->value_count());
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: return std::size(kTexts);
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_DOUBLE: return std::size(kNumbers);
    default: return 1;
  }
}

/// Sets the field, or adds an element to it.
void SetValue(Message& message, const FieldDescriptor& field, std::size_t at) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const auto set = [&](auto setter, auto adder, auto value) {
    field.is_repeated() ? (reflection.*adder)(&message, &field, value)
                        : (reflection.*setter)(&message, &field, value);
  };
  using R = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: return set(&R::SetString, &R::AddString, std::string(kTexts[at]));
    case FieldDescriptor::CPPTYPE_INT32: return set(&R::SetInt32, &R::AddInt32, kNumbers[at]);
    case FieldDescriptor::CPPTYPE_INT64: return set(&R::SetInt64, &R::AddInt64, std::int64_t{kNumbers[at]});
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return set(&R::SetDouble, &R::AddDouble, double{1.0 * kNumbers[at]});
    case FieldDescriptor::CPPTYPE_BOOL: return set(&R::SetBool, &R::AddBool, true);
    case FieldDescriptor::CPPTYPE_ENUM:
      return set(&R::SetEnumValue, &R::AddEnumValue,
                 field.enum_type()->value(static_cast<int>(at))->number());
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      Message* const inner = field.is_repeated() ? reflection.AddMessage(&message, &field)
                                                 : reflection.MutableMessage(&message, &field);
      // An entry of a map, or the value of a well-known type.
      for (const char* name : {"key", "value", "seconds"})
        if (const FieldDescriptor* member = inner->GetDescriptor()->FindFieldByName(name))
          SetValue(*inner, *member, 0);
      return;
    }
    default: FAIL() << field.full_name() << " is of a type that this test does not know";
  }
}

/// The message that has the last field of the path; it and its parents are made. Of a list it is the first
/// element, or the last one.
Message& ParentOf(Message& root, const Path& path, bool is_last) {
  Message* at = &root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const google::protobuf::Reflection& reflection = *at->GetReflection();
    if (!path[i]->is_repeated()) {
      at = reflection.MutableMessage(at, path[i]);
    } else {
      if (reflection.FieldSize(*at, path[i]) == 0) reflection.AddMessage(at, path[i]);
      at = reflection.MutableRepeatedMessage(at, path[i],
                                             is_last ? reflection.FieldSize(*at, path[i]) - 1 : 0);
    }
  }
  return *at;
}

/// Whether the base has the first `count` fields of the path.
bool Has(const Message& root, const Path& path, std::size_t count) {
  const Message* at = &root;
  for (std::size_t i = 0; i < count; ++i) {
    const google::protobuf::Reflection& reflection = *at->GetReflection();
    const bool has =
        path[i]->is_repeated() ? reflection.FieldSize(*at, path[i]) > 0 : reflection.HasField(*at, path[i]);
    if (!has) return false;
    if (i + 1 < count)
      at = path[i]->is_repeated() ? &reflection.GetRepeatedMessage(*at, path[i], 0)
                                  : &reflection.GetMessage(*at, path[i]);
  }
  return true;
}

bool AnyHas(const Kind& kind, const Path& path, std::size_t count) {
  return std::ranges::any_of(kind.bases, [&](const MessagePtr& base) { return Has(*base, path, count); });
}

Fate FateOf(const Result<Translated>& before, const Result<Translated>& after, std::string_view field) {
  if (after) {
    const bool is_remarked = before && before->remarks != after->remarks;
    const bool is_other = !before || before->job.SerializeAsString() != after->job.SerializeAsString();
    if (is_other) return is_remarked ? Fate::kMeantInPart : Fate::kMeant;
    return is_remarked ? Fate::kNoEffect : Fate::kIgnored;
  }
  const bool is_new = before.has_value() || before.error().message != after.error().message;
  return is_new && after.error().message.find(field) != std::string::npos ? Fate::kRefused : Fate::kIgnored;
}

Fate FateOf(const Kind& kind, const Message& base, const Path& path, bool is_last) {
  const FieldDescriptor& field = *path.back();
  const MessagePtr without(base.New());
  without->CopyFrom(base);
  ParentOf(*without, path, is_last);
  const Result<Translated> before = kind.translate(*without);
  Fate fate = Fate::kIgnored;
  for (std::size_t at = 0; at < (IsLeaf(field) ? CountOfValues(field) : 1); ++at) {
    const MessagePtr with(base.New());
    with->CopyFrom(*without);
    Message& parent = ParentOf(*with, path, is_last);
    if (IsLeaf(field)) {
      SetValue(parent, field, at);
    } else if (field.is_repeated()) {
      parent.GetReflection()->AddMessage(&parent, &field);
    } else {
      parent.GetReflection()->MutableMessage(&parent, &field);
    }
    fate = std::max(fate, FateOf(before, kind.translate(*with), field.name()));
  }
  return fate;
}

/// In the requests that have the message of the field, if there are any.
Fate FateOf(const Kind& kind, const Path& path) {
  const bool any = AnyHas(kind, path, path.size() - 1);
  Fate fate = Fate::kIgnored;
  for (const MessagePtr& base : kind.bases)
    if (!any || Has(*base, path, path.size() - 1))
      for (const bool is_last : {false, true}) fate = std::max(fate, FateOf(kind, *base, path, is_last));
  return fate;
}

std::string Print(std::string_view kind, const Path& path) {
  std::string text(kind);
  for (const FieldDescriptor* field : path)
    text += "." + field->name() + (field->is_repeated() && !field->is_map() ? "[]" : "");
  return text;
}

void AddRows(const Kind& kind, const Descriptor& type, Path& path, std::string& page) {
  for (int i = 0; i < type.field_count(); ++i) {
    path.push_back(type.field(i));
    const std::string name = Print(kind.title, path);
    std::string plain = name;
    std::erase_if(plain, [](char c) { return c == '[' || c == ']'; });
    const auto row = [&](std::string_view text) {
      page += "| `" + name + "` | " + std::string(text) + " |\n";
    };
    if (const auto known = Known().find(plain); known != Known().end()) {
      row(known->second);
    } else {
      // What a request here has is looked at part by part.
      const bool has_parts = !IsLeaf(*path.back()) && AnyHas(kind, path, path.size());
      const Fate fate = has_parts ? Fate::kMeant : FateOf(kind, path);
      if (IsLeaf(*path.back()) || (fate != Fate::kIgnored && fate != Fate::kMeant)) {
        EXPECT_NE(fate, Fate::kIgnored) << name;
        row(Say(fate));
      } else {
        AddRows(kind, *path.back()->message_type(), path, page);
      }
    }
    path.pop_back();
  }
}

TEST(EveryField, MeansSomethingOrIsRefusedOrSaysThatItHasNoEffect) {
  std::string page =
      "# Every field of the jobs of Vertex AI\n\n"
      "This page says what the server does with each field of a request; [vertex.md](vertex.md) says what "
      "the\n"
      "jobs become. A test sets each field, looks at the job that results, and writes this page. To write "
      "it\n"
      "anew: "
      "`TRAINYARD_UPDATE_DOCS=1 ctest --preset dev -R '^vertex$'`.\n";
  for (const Kind& kind : Kinds()) {
    page += "\n## " + std::string(kind.title) + "\n\n| field | here |\n|---|---|\n";
    Path path;
    AddRows(kind, *kind.bases.front()->GetDescriptor(), path, page);
  }
  if (std::getenv("TRAINYARD_UPDATE_DOCS") != nullptr) std::ofstream(TRAINYARD_VERTEX_FIELDS_DOC) << page;
  std::ifstream file(TRAINYARD_VERTEX_FIELDS_DOC);
  const std::string written{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(written, page)
      << "run TRAINYARD_UPDATE_DOCS=1 ctest --preset dev -R '^vertex$' and look at the diff";
}

}  // namespace
}  // namespace trainyard::vertex::every_field_test
