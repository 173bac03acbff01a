#include <google/protobuf/empty.pb.h>
#include <google/protobuf/util/field_mask_util.h>

#include <charconv>
#include <utility>

#include "api/messages.h"
#include "api/ml/job_request.h"
#include "api/system_parameters.h"
#include "api/vertex/job_collections.h"
#include "api/vertex/request_path.h"
#include "base/wire/json.h"
#include "control/job_service.h"
#include "control/views/job_listing.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "google/longrunning/operations.pb.h"
#include "net/access/caller.h"
#include "rules/iam/resource.h"
#include "rules/vertex/list_filter.h"

namespace trainyard::api {

namespace {

namespace aip = google::cloud::aiplatform::v1;
using control::JobService;
using control::v1::JobRecord;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::util::FieldMaskUtil;
using MessagePtr = std::unique_ptr<Message>;

/// Jobs that came by ml v1 are in the region that they name.
const std::string& LocationOf(const JobRecord& record) {
  return record.has_submitted_as() ? record.submitted_as().location()
                                   : record.job().training_input().region();
}

/// The one that the request names.
awaitable<Result<JobRecord>> Find(const JobCollection& in, JobService& jobs, const Request& request) {
  return FindIn(in, jobs, request, request.Parameter("number"));
}

wire::JobName NameOf(const JobRecord& record) { return {record.project(), record.job().job_id()}; }

/// The fields that the query's readMask names, in either form; none: all.
Result<google::protobuf::FieldMask> ReadMask(const JobCollection& in, const Request& request) {
  google::protobuf::FieldMask asked;
  google::protobuf::FieldMask mask;
  FieldMaskUtil::FromString(request.Query("readMask"), &asked);
  for (const std::string& path : asked.paths()) {
    if (path == "*") return google::protobuf::FieldMask();
    google::protobuf::FieldMask in_json;
    const bool is_json = FieldMaskUtil::FromJsonString(path, &in_json) && in_json.paths_size() == 1;
    std::string name = is_json ? in_json.paths(0) : path;
    if (!FieldMaskUtil::GetFieldDescriptors(in.resource.GetDescriptor(), name, nullptr))
      return std::unexpected(
          InvalidArgument("read_mask", std::string(in.type) + " has no field '" + path + "'"));
    mask.add_paths(std::move(name));
  }
  return mask;
}

/// A page token is only for the same list.
std::string ListKey(const JobCollection& in, const Request& request) {
  return LocationName(request) + "/" + std::string(in.name) + "?" + std::string(request.Query("filter"));
}

}  // namespace

awaitable<Result<JobRecord>> FindIn(const JobCollection& in, JobService& jobs, const Request& request,
                                    std::string_view text) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const Error absent = NotFound(std::string(in.type) + " does not exist: " + LocationName(request) + "/" +
                                std::string(in.name) + "/" + std::string(text));
  if (error != std::errc() || end != text.data() + text.size()) co_return std::unexpected(absent);
  const std::string& project = request.Parameter("project");
  Result<JobRecord> record = number >= vertex::kMlNumbers
                                 ? co_await jobs.listing().Find(project, number - vertex::kMlNumbers)
                                 : co_await jobs.Record({project, vertex::JobIdOf(number)});
  if (!record && record.error().code != Code::kNotFound) co_return record;
  // No other number leads to it.
  const bool is_here = record && std::to_string(NumberOf(*record)) == text &&
                       LocationOf(*record) == request.Parameter("location") &&
                       in.show(*record, record->job(), "") != nullptr;
  if (!is_here) co_return std::unexpected(absent);
  co_return record;
}

awaitable<Result<Response>> CreateIn(const JobCollection& in, JobService& jobs, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kJobBytesMax));
  const MessagePtr asked(in.resource.New());
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, *asked));
  const std::string& location = request.Parameter("location");
  const std::int64_t number = NewNumber();
  TY_CO_TRY(vertex::Translated translated, in.translate(*asked, location, number));
  control::ForeignRequest foreign;
  foreign.as.set_api("aiplatform");
  foreign.as.set_collection(std::string(in.name));
  foreign.as.set_location(location);
  foreign.as.set_number(number);
  foreign.as.set_resource(asked->SerializeAsString());
  foreign.remarks = std::move(translated.remarks);
  JobRecord record;
  *record.mutable_submitted_as() = foreign.as;
  control::Creator creator = CreatorOf(request);
  const Result<ml::v1::Job> created = co_await jobs.Create(
      request.Parameter("project"), std::move(translated.job), std::move(creator), std::move(foreign));
  if (!created) co_return std::unexpected(in.in_its_fields(*asked, created.error()));
  co_return Response::Json(wire::PrintJson(*in.show(record, *created, LocationName(request))));
}

awaitable<Result<Response>> GetIn(const JobCollection& in, JobService& jobs, Request& request) {
  TY_CO_TRY(const JobRecord record, co_await Find(in, jobs, request));
  TY_CO_TRY(const ml::v1::Job now, co_await jobs.Get(NameOf(record)));
  co_return Response::Json(wire::PrintJson(*in.show(record, now, LocationName(request))));
}

awaitable<Result<Response>> ListIn(const JobCollection& in, JobService& jobs, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  TY_CO_TRY(const vertex::ResourceFilter filter,
            vertex::ResourceFilter::Parse(request.Query("filter"), *in.resource.GetDescriptor()));
  TY_CO_TRY(control::JobListQuery query, ListQueryOf(request));
  query.filter.clear();  // the request's is about the resources
  TY_CO_TRY(query.page_token, control::UnbindPageToken(query.page_token, ListKey(in, request)));
  TY_CO_TRY(const google::protobuf::FieldMask mask, ReadMask(in, request));
  const MessagePtr page(in.page.New());
  const FieldDescriptor* const resources = page->GetDescriptor()->FindFieldByNumber(1);
  const std::string location_name = LocationName(request);
  auto take = [&](const JobRecord& record, const ml::v1::Job& job) -> std::size_t {
    if (LocationOf(record) != request.Parameter("location")) return 0;
    const MessagePtr shown = in.show(record, job.job_id().empty() ? record.job() : job, location_name);
    if (shown == nullptr || !filter.Matches(*shown)) return 0;
    if (mask.paths_size() > 0) FieldMaskUtil::TrimMessage(mask, shown.get());
    page->GetReflection()->AddMessage(page.get(), resources)->CopyFrom(*shown);
    return shown->ByteSizeLong();
  };
  TY_CO_TRY(std::string next, co_await jobs.listing().List(
                                  std::move(query), control::JobListing::Trials::kKnown, std::move(take)));
  page->GetReflection()->SetString(page.get(), page->GetDescriptor()->FindFieldByNumber(2),
                                   control::BindPageToken(std::move(next), ListKey(in, request)));
  co_return Response::Json(wire::PrintJson(*page));
}

awaitable<Result<Response>> CancelIn(const JobCollection& in, JobService& jobs, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<google::protobuf::Empty>(request, kSmallBodyBytesMax));
  const std::string& project = request.Parameter("project");
  const Status may = co_await access::Require(request, std::string(in.permissions) + "cancel",
                                              iam::Resource::Project(project));
  const Result<JobRecord> record = co_await Find(in, jobs, request);
  if (!may) {
    // The answer does not tell a caller without the right which jobs there are.
    if (!record) co_return std::unexpected(may.error());
    iam::Resource job = iam::Resource::Job(project, record->job().job_id());
    if (!co_await access::Require(request, "ml.jobs.cancel", std::move(job)))
      co_return std::unexpected(may.error());
  }
  if (!record) co_return std::unexpected(record.error());
  co_return Answer(co_await jobs.Cancel(NameOf(*record)));
}

awaitable<Result<Response>> DeleteIn(const JobCollection& in, JobService& jobs, Request& request) {
  TY_CO_TRY(const JobRecord record, co_await Find(in, jobs, request));
  TY_CO_RETURN_IF_ERROR(co_await jobs.removal().Delete(NameOf(record)));
  google::longrunning::Operation operation;
  operation.set_name(LocationName(request) + "/operations/" + std::to_string(NewNumber()));
  operation.set_done(true);
  operation.mutable_metadata()->PackFrom(aip::DeleteOperationMetadata());
  operation.mutable_response()->PackFrom(google::protobuf::Empty());
  co_return Response::Json(wire::PrintJson(operation));
}

}  // namespace trainyard::api
