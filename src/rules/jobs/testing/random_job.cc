#include "rules/jobs/testing/random_job.h"

#include <google/protobuf/text_format.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"

namespace trainyard::jobs {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr unsigned kChangesMax = 4;

const std::vector<ml::v1::Job>& ValidJobs() {
  static const std::vector<ml::v1::Job> kJobs = [] {
    std::vector<ml::v1::Job> jobs;
    for (const char* input :
         {"package_uris: 'gs://bucket/x' python_module: 't'",
          "package_uris: 'gs://bucket/x' python_module: 't' scale_tier: CUSTOM master_type: 'n1-standard-4' "
          "worker_type: "
          "'n1-standard-8' worker_count: 2 parameter_server_type: 'n1-highmem-2' parameter_server_count: 1 "
          "master_config { accelerator_config { type: NVIDIA_TESLA_T4 count: 2 } }",
          "package_uris: 'gs://bucket/x' python_module: 't' scale_tier: CUSTOM master_type: 'n1-highcpu-16' "
          "worker_type: "
          "'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: TPU_V3 count: 8 } }",
          "scale_tier: CUSTOM master_type: 'standard' evaluator_type: 'standard_gpu' evaluator_count: 3 "
          "master_config { "
          "image_uri: 'gcr.io/p/i' container_args: '--x' }",
          "package_uris: 'gs://bucket/x' python_module: 't' job_dir: 'gs://bucket' hyperparameters { "
          "max_trials: 4 params { "
          "parameter_name: 'x' type: DOUBLE max_value: 1 } params { parameter_name: 'y' type: DISCRETE "
          "discrete_values: [1, "
          "2] } }"}) {
      ml::v1::Job& job = jobs.emplace_back();
      job.set_job_id("job");
      TY_CHECK(google::protobuf::TextFormat::ParseFromString(input, job.mutable_training_input()));
      job.mutable_training_input()->set_region("us-central1");
    }
    return jobs;
  }();
  return kJobs;
}

template <class T, std::size_t N>
T Pick(std::mt19937& random, const std::array<T, N>& values) {
  return values[random() % N];
}

std::string RandomText(std::mt19937& random) {
  static constexpr std::array<const char*, 30> kWords = {
      "",
      "a",
      "n1-standard-4",
      "n1-highcpu-64",
      "a2-highgpu-1g",
      "standard",
      "cloud_tpu",
      "standard_gpu",
      "us-central1",
      "us-west3",
      "gs://bucket/x",
      "gs://bucket",
      "gs:///",
      "2.1",
      "1.15",
      "2.999999999999",
      "3.7",
      "gcr.io/p/i",
      "gcr.io/cloud-ml-algos/i",
      "gcr.io/P/I@sha256:",
      "trainer.task",
      "projects/1/global/networks/n",
      "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
      "\xff\xfe",
      "\xf0\x9f\x9a\x82",
      "a@b",
      "pd-ssd",
      "..",
      "{\"a\": [\"\\\\",
      "\x01\x7f"};
  std::string text = Pick(random, kWords);
  if (random() % 16 == 0) text.push_back('\0');
  if (random() % 64 == 0) text.append(random() % 2000, 'x');
  return text;
}

std::int64_t RandomNumber(std::mt19937& random) {
  static constexpr std::array<std::int64_t, 12> kNumbers = {0,
                                                            1,
                                                            2,
                                                            4,
                                                            8,
                                                            16,
                                                            -1,
                                                            999,
                                                            1000,
                                                            1001,
                                                            std::numeric_limits<std::int64_t>::max(),
                                                            std::numeric_limits<std::int64_t>::min()};
  return Pick(random, kNumbers);
}

double RandomDouble(std::mt19937& random) {
  static constexpr std::array<double, 8> kNumbers = {0,
                                                     1,
                                                     2,
                                                     -0.5,
                                                     1e300,
                                                     9007199254740993.0,
                                                     std::numeric_limits<double>::quiet_NaN(),
                                                     std::numeric_limits<double>::infinity()};
  return Pick(random, kNumbers);
}

/// Sets a field that is not repeated, or adds to one that is.
template <class Value>
void Put(Message& message, const FieldDescriptor& field, Value value,
         void (Reflection::*set)(Message*, const FieldDescriptor*, Value) const,
         void (Reflection::*add)(Message*, const FieldDescriptor*, Value) const) {
  (message.GetReflection()->*(field.is_repeated() ? add : set))(&message, &field, std::move(value));
}

void Change(Message& message, std::mt19937& random);

void ChangeBelow(Message& message, const FieldDescriptor& field, std::mt19937& random) {
  const Reflection& reflection = *message.GetReflection();
  if (!field.is_repeated()) return Change(*reflection.MutableMessage(&message, &field), random);
  const int size = reflection.FieldSize(message, &field);
  const bool add = size == 0 || random() % 2 == 0;
  Change(add ? *reflection.AddMessage(&message, &field)
             : *reflection.MutableRepeatedMessage(&message, &field,
                                                  static_cast<int>(random() % static_cast<unsigned>(size))),
         random);
}

/// Changes one field of the message, or of one below it.
void Change(Message& message, std::mt19937& random) {
  const auto& type = *message.GetDescriptor();
  const FieldDescriptor& field =
      *type.field(static_cast<int>(random() % static_cast<unsigned>(type.field_count())));
  if (random() % 8 == 0) return message.GetReflection()->ClearField(&message, &field);
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE: return ChangeBelow(message, field, random);
    case FieldDescriptor::CPPTYPE_STRING:
      return Put<std::string>(message, field, RandomText(random), &Reflection::SetString,
                              &Reflection::AddString);
    case FieldDescriptor::CPPTYPE_INT64:
      return Put<std::int64_t>(message, field, RandomNumber(random), &Reflection::SetInt64,
                               &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_INT32:
      return Put<std::int32_t>(message, field, static_cast<std::int32_t>(RandomNumber(random)),
                               &Reflection::SetInt32, &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Put<double>(message, field, RandomDouble(random), &Reflection::SetDouble,
                         &Reflection::AddDouble);
    case FieldDescriptor::CPPTYPE_BOOL:
      return Put<bool>(message, field, random() % 2 == 0, &Reflection::SetBool, &Reflection::AddBool);
    case FieldDescriptor::CPPTYPE_ENUM:
      return Put<int>(message, field, random() % 32 == 0 ? 1000 : static_cast<int>(random() % 13),
                      &Reflection::SetEnumValue, &Reflection::AddEnumValue);
    default: TY_CHECK(false && "a kind of field that the API does not have");
  }
}

}  // namespace

ml::v1::Job RandomJob(std::mt19937& random) {
  ml::v1::Job job = ValidJobs()[random() % ValidJobs().size()];
  for (unsigned changes = random() % (kChangesMax + 1); changes > 0; --changes) {
    if (random() % 8 == 0) {
      Change(job, random);
    } else {
      Change(*job.mutable_training_input(), random);
    }
  }
  return job;
}

}  // namespace trainyard::jobs
