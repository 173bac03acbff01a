#include "control/intake/image_lookups.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/async/on_pool.h"
#include "control/collaborators.h"

namespace trainyard::control {
namespace {

using std::chrono::milliseconds;

/// The registry may answer later.
bool IsUnanswered(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kDeadlineExceeded;
}

/// The reason without the name of the image, which the caller adds.
std::string ReasonOf(const Error& why, const std::string& image) {
  std::string_view reason = why.message;
  const std::string said_already = "image " + image + ": ";
  if (reason.starts_with(said_already)) reason.remove_prefix(said_already.size());
  return std::string(reason);
}

/// The error as one of the job: a missing image is not a 404 of the job, and credentials that the server
/// lacks are not the client's.
Error Refusal(const Error& why, const std::string& image) {
  Code code = why.code;
  if (code == Code::kNotFound || code == Code::kPermissionDenied || code == Code::kUnauthenticated)
    code = Code::kFailedPrecondition;
  return {code, "The image " + image + " cannot be used: " + ReasonOf(why, image), {}};
}

void Fill(const image::ResolvedImage& resolved, v1::ImageRecord& image) {
  image.set_reference(resolved.reference);
  image.set_digest(resolved.digest);
  image.set_size_bytes(resolved.size_bytes);
  replica::v1::Manifest::ImageProgram& program = *image.mutable_program();
  program.mutable_entrypoint()->Assign(resolved.program.entrypoint.begin(),
                                       resolved.program.entrypoint.end());
  program.mutable_command()->Assign(resolved.program.command.begin(), resolved.program.command.end());
  program.set_stop_signal(resolved.program.stop_signal);
}

bool IsWorthKeeping(const Result<image::ResolvedImage>& said, std::chrono::milliseconds timeout) {
  if (said) return true;
  if (said.error().code == Code::kCancelled) return false;
  return said.error().code != Code::kDeadlineExceeded || timeout >= KeptLookUps::kTimeMin;
}

}  // namespace

ImagesFound FindImages(const ImageRegistries& registries, const std::vector<std::string>& images,
                       const LookUpOptions& options, const std::stop_token& stop) {
  ImagesFound found;
  for (const std::string& name : images) {
    const Result<image::ResolvedImage> resolved = registries.resolve(name, options.timeout(), stop);
    if (!resolved && !IsUnanswered(resolved.error())) {
      found.refusal = ImagesFound::Refusal{.image = name, .error = Refusal(resolved.error(), name)};
      return found;
    }
    v1::ImageRecord& image = found.images.emplace_back();
    image.set_image(name);
    if (resolved) {
      Fill(*resolved, image);
    } else if (const auto pulled = options.may_be_pulled ? registries.find_pulled(name) : std::nullopt) {
      Fill(*pulled, image);
      found.notes.push_back("The image " + name + " is the one that was pulled under this name before, " +
                            pulled->digest + ": " + ReasonOf(resolved.error(), name) + ".");
    } else {
      image.set_unresolved(ReasonOf(resolved.error(), name));
    }
  }
  return found;
}

QueuedLookUp::QueuedLookUp(const Collaborators& outside, jobs::ImageObservation& seen, Event& wake)
    : outside_(outside), seen_(seen), wake_(wake) {
  seen_.first_pause = outside.settings.retry_pause;
}

/// Not a coroutine: the rules must see the look-up before it has begun.
boost::asio::awaitable<void> QueuedLookUp::Run(v1::JobRecord job) {
  seen_.asking = true;
  return LookUp(std::move(job));
}

boost::asio::awaitable<void> QueuedLookUp::LookUp(v1::JobRecord job) {
  const ImageRegistries* registries = outside_.images.registries;
  std::string lacking;
  if (registries != nullptr && !registries->resolve && registries->look_for_containers)
    lacking = co_await registries->look_for_containers();
  if (stop_.stop_requested()) co_return;
  if (registries == nullptr || !registries->resolve) {  // a previous server accepted the job
    if (!lacking.empty()) co_return Lack(lacking);
    co_return Refuse(
        "This server does not run containers any more (trainyard serve --container-engine): the job's images "
        "cannot be looked up.");
  }
  ImagesFound found;
  for (const v1::ImageRecord& image : job.images()) {
    if (!jobs::IsUnresolved(image)) continue;
    ImagesFound one = co_await Find(image.image());
    std::ranges::move(one.images, std::back_inserter(found.images));
    std::ranges::move(one.notes, std::back_inserter(found.notes));
    found.refusal = std::move(one.refusal);
    if (found.refusal || stop_.stop_requested()) break;
  }
  if (!stop_.stop_requested()) Take(std::move(found));
}

boost::asio::awaitable<ImagesFound> QueuedLookUp::Find(std::string image) {
  const ImageRegistries& registries = *outside_.images.registries;
  const std::string registry = registries.registry_of(image);
  Turns::Waiter turn(outside_.images.turns->At(registry));
  turn.Want();
  while (!stop_.stop_requested() && !co_await turn.WaitFor(kQueuedLookUpMax)) {  // busy with others
  }
  const milliseconds limit =
      registry.ends_with(':') ? milliseconds(kLocalLookUpMax) : milliseconds(kQueuedLookUpMax);
  auto find = [&registries, image = std::move(image), limit, stop = stop_.get_token()] {
    const LookUpOptions options{.timeout = [limit] { return limit; }, .may_be_pulled = true};
    return stop.stop_requested() ? ImagesFound{} : FindImages(registries, {image}, options, stop);
  };
  co_return co_await OnPool(*registries.queued, std::move(find));
}

void QueuedLookUp::Take(ImagesFound found) {
  seen_.reason.clear();
  seen_.no_engine = false;
  v1::Event::ImagesResolved& resolved = seen_.resolved.emplace();
  for (v1::ImageRecord& image : found.images) {
    if (!jobs::IsUnresolved(image)) {
      *resolved.add_images() = std::move(image);
    } else if (seen_.reason.empty()) {
      seen_.reason = image.unresolved();
    }
  }
  for (std::string& note : found.notes) resolved.add_notes(std::move(note));
  if (found.refusal) seen_.refusal = std::move(found.refusal->error.message);
  End();
}

void QueuedLookUp::Refuse(std::string why) {
  seen_.refusal = std::move(why);
  End();
}

/// The program that runs containers may be started after this server, for example when the machine boots.
void QueuedLookUp::Lack(const std::string& containers) {
  seen_.no_engine = true;
  seen_.reason =
      "nothing runs containers here now. " + containers.substr(0, containers.find_last_not_of('.') + 1);
  End();
}

void QueuedLookUp::End() {
  seen_.asking = false;
  seen_.asked_time = outside_.clock.Now();
  ++seen_.unanswered;
  wake_.Set();
}

Turns& RegistryTurns::At(const std::string& registry) {
  std::erase_if(turns_, [&registry](const auto& one) {
    return one.first != registry && one.second.queued() == 0 && one.second.under_way() == 0;
  });
  return turns_.try_emplace(registry, loop_, 1).first->second;
}

Result<image::ResolvedImage> KeptLookUps::Resolve(const ImageResolver& resolve, const std::string& image,
                                                  std::chrono::milliseconds timeout,
                                                  const std::stop_token& stop) {
  const SysTime now = clock_.Now();
  const auto is_over = [now](const auto& entry) {
    return entry.second.since > now || now - entry.second.since >= kLife;
  };
  auto known = images_.With([&](Images& images) -> std::optional<Result<image::ResolvedImage>> {
    std::erase_if(images, is_over);
    const auto found = images.find(image);
    if (found == images.end()) return std::nullopt;
    return found->second.said;
  });
  if (known) return *std::move(known);
  Result<image::ResolvedImage> said = resolve(image, timeout, stop);
  if (!IsWorthKeeping(said, timeout)) return said;
  images_.With([&](Images& images) {
    if (images.size() >= kImagesMax && !images.contains(image))
      images.erase(std::ranges::min_element(images, {}, [](const auto& one) { return one.second.since; }));
    images.insert_or_assign(image, CachedLookUp{.since = now, .said = said});
  });
  return said;
}

}  // namespace trainyard::control
