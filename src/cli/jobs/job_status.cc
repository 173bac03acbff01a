#include "cli/jobs/job_status.h"

namespace trainyard::cli {

std::string PrintWaiting(const Json& status) {
  const std::string reason = TextAt(status, "waiting.reason");
  if (reason.empty()) return "";
  const std::string position = TextAt(status, "waiting.jobPosition");
  const std::string unblock = TextAt(status, "waiting.unblock");
  std::string text = "Why it does not run yet";
  if (!position.empty() && position != "0") text += " (position " + position + " in the queue)";
  text += ":\n  " + reason + "\n";
  if (!unblock.empty()) text += "  " + unblock + "\n";
  return text;
}

std::string PrintImages(const Json& status) {
  const Json* images = FindMember(status, "images");
  if (images == nullptr || images->children.empty()) return "";
  std::string text = "Images:\n";
  for (const Json& image : images->children) {
    const std::string reference = TextAt(image, "reference");
    text += "  " + TextAt(image, "image") +
            (reference.empty() ? " is not resolved yet" : " is " + reference) + "\n";
  }
  return text;
}

}  // namespace trainyard::cli
