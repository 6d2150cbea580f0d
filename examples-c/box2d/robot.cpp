/* A robot on two wheels learns to stand, in worlds of Box2D: 16 worlds on the heap, and learning in slices that fit in 4 ms of a
   frame. The library's block has the random streams, lengths of episodes and arrays of all rows; each row's world is the host's.
   `robot [FRAMES]`: at most so many frames, 60,000 if none are named. */
#include <rlcore.hpp>

#include <box2d/box2d.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

constexpr std::uint32_t num_worlds = 16;
constexpr float frame_seconds = 1.0f / 60, half_height = 0.5f, radius = 0.2f, fallen = 0.7f, room = 4.0f;
constexpr double budget_ms = 4.0;
constexpr float solved = 450; /* of at most 500 */

/* A chassis on a wheel, seen from the side, on the ground of a world of its own. */
struct robot {
  b2World world{b2Vec2(0.0f, -9.81f)};
  b2Body *wheel = nullptr, *chassis = nullptr;
  b2WheelJoint *axle = nullptr;

  explicit robot(float angle) {
    b2BodyDef ground_def;
    b2EdgeShape ground;
    ground.SetTwoSided(b2Vec2(-2 * room, 0.0f), b2Vec2(2 * room, 0.0f));
    world.CreateBody(&ground_def)->CreateFixture(&ground, 0.0f)->SetFriction(1.0f);

    b2BodyDef wheel_def, chassis_def;
    wheel_def.type = chassis_def.type = b2_dynamicBody;
    wheel_def.position.Set(0.0f, radius);
    b2CircleShape circle;
    circle.m_radius = radius;
    wheel = world.CreateBody(&wheel_def);
    wheel->CreateFixture(&circle, 4.0f)->SetFriction(1.0f);

    chassis_def.position.Set(-half_height * std::sin(angle), radius + half_height * std::cos(angle));
    chassis_def.angle = angle;
    b2PolygonShape box;
    box.SetAsBox(0.1f, half_height);
    b2FixtureDef body;
    body.shape = &box;
    body.density = 2.0f;
    body.filter.maskBits = 0; /* it passes through its wheel */
    chassis = world.CreateBody(&chassis_def);
    chassis->CreateFixture(&body);

    b2WheelJointDef joint;
    joint.Initialize(chassis, wheel, wheel->GetPosition(), b2Vec2(0.0f, 1.0f));
    joint.enableMotor = true;
    joint.maxMotorTorque = 6.0f;
    joint.stiffness = 0.0f;
    joint.enableLimit = true; /* no spring: the axle stays where it is */
    axle = static_cast<b2WheelJoint *>(world.CreateJoint(&joint));
  }
};

/* All worlds, by row. */
struct worlds {
  std::vector<std::unique_ptr<robot>> of{num_worlds};
};

/* The environment: a row has no state of its own beside its world. */
class balance {
 public:
  using user_type = worlds;
  static constexpr bool knows_row = true;
  static constexpr std::uint32_t env_id = 1001, obs_len = 5, action_len = 1, max_episode_steps = 500;
  static constexpr float action_low[] = {-1.0f}, action_high[] = {1.0f};

  void reset(worlds &all, std::uint32_t row, rlcore_rng &rng, rlcore::span<float> obs) {
    double angle[1] = {};
    (void)rlcore_rng_uniform(&rng, -0.1, 0.1, angle, 1);
    all.of[row] = std::make_unique<robot>(static_cast<float>(angle[0])); /* a failure stops the call with E_CALLBACK */
    started_ = 1;
    look(*all.of[row], obs);
  }

  /* The action is the speed that the motor aims at. Some steps push the chassis. */
  void step(worlds &all, std::uint32_t row, rlcore_rng &rng, rlcore::span<const float> action, rlcore::span<float> obs,
            rlcore_step &out) {
    robot &r = *all.of[row];
    double draw[1] = {};
    (void)rlcore_rng_uniform(&rng, 0.0, 1.0, draw, 1);
    if (draw[0] < 0.02) r.chassis->ApplyLinearImpulseToCenter(b2Vec2(draw[0] < 0.01 ? 0.3f : -0.3f, 0.0f), true);
    r.axle->SetMotorSpeed(-20.0f * action[0]);
    r.world.Step(frame_seconds, 8, 3);
    look(r, obs);
    out.terminated = std::fabs(r.chassis->GetAngle()) > fallen || std::fabs(r.wheel->GetPosition().x) > room;
    out.reward = 1.0f;
  }

 private:
  static void look(const robot &r, rlcore::span<float> obs) {
    obs[0] = r.chassis->GetAngle();
    obs[1] = r.chassis->GetAngularVelocity();
    obs[2] = r.wheel->GetPosition().x;
    obs[3] = r.wheel->GetLinearVelocity().x;
    obs[4] = r.wheel->GetAngularVelocity() / 10;
  }
  std::uint32_t started_, unused_;
};

void check(rlcore::status s, int line) {
  if (s) return;
  std::fprintf(stderr, "robot.cpp:%d: %s\n", line, rlcore::last_error().c_str());
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

/* Whether an update is due or under way. */
bool learns(const rlcore::learner<float, float> &agent) {
  auto call = agent.due();
  CHECK(call.why());
  return *call == RLCORE_LEARNER_LEARN;
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char **argv) {
  const std::uint32_t most = argc > 1 ? static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 60000;
  worlds all;
  const rlcore::environment env = rlcore::env_of<balance>(all);
  rlcore_vecenv_config many = rlcore::vecenv_config();
  many.num_envs = num_worlds;
  many.seed = 1;
  auto envs = rlcore::vecenv<float, float>::make(env, many);
  CHECK(envs.why());
  CHECK(envs->reset());

  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = num_worlds;
  settings.num_steps = 128;
  settings.num_minibatches = 8;
  settings.num_epochs = 6;
  settings.num_chunks = 4;
  settings.learning_rate = 1e-3f;
  settings.entropy_coef = 0;
  settings.normalize_obs = settings.normalize_reward = settings.squash = 1;
  auto agent = rlcore::learner<float, float>::make(settings, env);
  CHECK(agent.why());

  /* The game's loop: in each frame a step of all worlds, or as many slices of an update as there is time for. */
  double longest = 0, sum = 0;
  std::uint32_t frame = 0, late = 0;
  for (; frame < most && !(agent->stats().return_mean >= solved); frame++) {
    const double begin = now_ms();
    if (learns(*agent)) {
      do CHECK(agent->learn(*envs, 1));
      while (learns(*agent) && now_ms() - begin < 0.75 * budget_ms);
    } else {
      CHECK(agent->act(*envs));
      CHECK(envs->step(agent->action()));
      CHECK(agent->observe(*envs));
    }
    const double spent = now_ms() - begin;
    longest = std::max(longest, spent);
    sum += spent;
    late += spent > budget_ms;
    if (frame % 2000 == 1999)
      std::printf("  frame %5u: %7llu steps, a return of %.1f\n", frame + 1,
                  static_cast<unsigned long long>(agent->stats().num_steps), static_cast<double>(agent->stats().return_mean));
  }
  std::printf("%u worlds of Box2D: %u frames of %.2f ms, the longest %.2f ms, %u of more than %.0f ms\n", num_worlds, frame,
              sum / frame, longest, late, budget_ms);
  const float mean = agent->stats().return_mean;
  if (!(mean >= solved)) return std::printf("FAILED: a return of %.1f, %.0f is asked for\n", static_cast<double>(mean), static_cast<double>(solved)), 1;
  std::printf("ok: the robot stands: a return of %.0f of at most 500 after %llu steps\n", static_cast<double>(mean),
              static_cast<unsigned long long>(agent->stats().num_steps));
  return 0;
}
