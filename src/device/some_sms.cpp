// Shows jobs some SMs of a device: renumbers the SMs of probes, and of the lanes of their traces.
#include "device/some_sms.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

namespace sonde {
namespace {

constexpr int largest_sm = 9999;  // far above any GPU: a typing error must not fill the memory

int parse_sm(std::string_view text, const std::string& all) {
  int sm = -1;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), sm);
  if (end.ec == std::errc{} && end.ptr == text.data() + text.size() && sm >= 0 &&
      sm <= largest_sm) {
    return sm;
  }
  throw ConfigError(
      fmt::format("--sms: '{}' is no SM (a number such as 17, or a range such as 20-23)", all));
}

class SomeSms final : public Device {
 public:
  SomeSms(Device& whole, std::vector<int> sms)
      : whole_(whole), sms_(std::move(sms)), info_(whole_.info()) {
    info_.sm_count = static_cast<int>(sms_.size());
  }

  const DeviceInfo& info() const override { return info_; }
  Health health() override { return whole_.health(); }
  Links links() override { return whole_.links(); }
  XidLog xids() override { return whole_.xids(); }
  void begin_job() override { whole_.begin_job(); }
  void draw_anew() override { whole_.draw_anew(); }
  PeerLink link_to(const std::string& peer_uuid) override { return whole_.link_to(peer_uuid); }
  std::vector<int> register_counts() override { return whole_.register_counts(); }
  std::string machine_code(const std::string& op) override { return whole_.machine_code(op); }
  int sm_of_gpu(int sm) const override {
    return sm < 0 ? sm : sms_.at(static_cast<std::size_t>(sm));
  }

 protected:
  Trace play(const ProbeSpec& spec) override {
    Trace trace =
        whole_.run(std::visit([this](auto probe) { return on_whole(std::move(probe)); }, spec));
    std::erase_if(trace.lanes, [this](const LaneTrace& lane) {
      return lane.sm >= 0 && !std::ranges::binary_search(sms_, lane.sm);
    });
    for (LaneTrace& lane : trace.lanes) {
      if (lane.sm < 0) continue;
      lane.sm = static_cast<int>(std::ranges::lower_bound(sms_, lane.sm) - sms_.begin());
    }
    return trace;
  }

 private:
  /// The probe with the SM numbers of the whole device.
  template <class Probe>
  ProbeSpec on_whole(Probe probe) const {
    if constexpr (std::is_same_v<Probe, ClusterProbe> || std::is_same_v<Probe, DsmProbe>) {
      throw DeviceError(
          "clusters cannot be limited to some SMs (the GPU places them) run without --sms");
    }
    if constexpr (std::is_same_v<Probe, StreamProbe>) {
      if (probe.engine == StreamEngine::bulk || !probe.groups.empty()) {
        throw DeviceError(
            "streams by the copy engine or of groups of SMs cannot be limited to some SMs (their "
            "blocks run on all of them) run without --sms");
      }
    }
    if constexpr (requires { probe.lanes; }) {
      for (auto& lane : probe.lanes) lane.sm = sm_of_gpu(lane.sm);
    }
    if constexpr (requires { probe.co_runners; }) {
      for (auto& runner : probe.co_runners) runner.sm = sm_of_gpu(runner.sm);
    }
    if constexpr (requires { probe.sm; }) probe.sm = sm_of_gpu(probe.sm);
    if constexpr (requires { probe.sms; }) {
      for (int& sm : probe.sms) sm = sm_of_gpu(sm);
      if (probe.sms.empty()) probe.sms = sms_;  // an empty list means all
    }
    return probe;
  }

  Device& whole_;
  std::vector<int> sms_;  // ascending
  DeviceInfo info_;
};

}  // namespace

std::vector<int> parse_sms(const std::vector<std::string>& texts) {
  std::vector<int> sms;
  for (const std::string& text : texts) {
    const std::size_t dash = text.find('-');
    const std::string_view view(text);
    const int first = parse_sm(view.substr(0, dash), text);
    const int last = dash == std::string::npos ? first : parse_sm(view.substr(dash + 1), text);
    if (last < first) {
      throw ConfigError(
          fmt::format("--sms: the range '{}' is empty (write the lower number first)", text));
    }
    for (int sm = first; sm <= last; ++sm) sms.push_back(sm);
  }
  std::ranges::sort(sms);
  sms.erase(std::unique(sms.begin(), sms.end()), sms.end());
  return sms;
}

std::unique_ptr<Device> limit_to_sms(Device& whole, std::vector<int> sms) {
  const int count = whole.info().sm_count;
  if (sms.empty() || sms.back() >= count) {
    throw DeviceError(fmt::format("the GPU has no SM {} (its {} SMs are 0 to {}) see --sms",
                                  sms.empty() ? -1 : sms.back(), count, count - 1));
  }
  return std::make_unique<SomeSms>(whole, std::move(sms));
}

}  // namespace sonde
