//! The known networks have the published sizes, layers fit or say why not, and text comes back as it was.

use super::*;
use proptest::prelude::*;

const CIFAR: Shape = Shape { channels: 3, height: 32, width: 32 };
const MNIST: Shape = Shape { channels: 1, height: 28, width: 28 };

fn named(name: &str, input: Shape) -> Spec {
    Spec::named(name, input, 10).unwrap().unwrap()
}

fn layers(texts: &[&str]) -> Vec<Layer> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn refusal(input: Shape, texts: &[&str]) -> String {
    Spec::new(input, layers(texts), 10).unwrap_err().to_string()
}

#[test]
fn vgg_small_is_the_papers_network() {
    let spec = named("vgg-small", CIFAR);
    assert_eq!((spec.parameters(), spec.flops()), (550_570, 231_611_904));
    // Names and shapes of tests/fixtures/vgg_gradients.json, from independent code.
    let expected: [(&str, &[usize]); 16] = [
        ("conv1.weight", &[32, 3, 3, 3]),
        ("conv1.bias", &[32]),
        ("conv2.weight", &[32, 32, 3, 3]),
        ("conv2.bias", &[32]),
        ("conv3.weight", &[64, 32, 3, 3]),
        ("conv3.bias", &[64]),
        ("conv4.weight", &[64, 64, 3, 3]),
        ("conv4.bias", &[64]),
        ("conv5.weight", &[128, 64, 3, 3]),
        ("conv5.bias", &[128]),
        ("conv6.weight", &[128, 128, 3, 3]),
        ("conv6.bias", &[128]),
        ("fc1.weight", &[128, 2048]),
        ("fc1.bias", &[128]),
        ("fc2.weight", &[10, 128]),
        ("fc2.bias", &[10]),
    ];
    let found: Vec<_> = spec.tensors().iter().map(|t| (t.name.as_str(), &t.shape[..])).collect();
    assert_eq!(found, expected);
    let mut offset = 0;
    for tensor in spec.tensors() {
        assert_eq!(tensor.range(), offset..offset + tensor.len());
        offset += tensor.len();
    }
    assert_eq!(spec.shapes()[14], Shape::new(128, 4, 4));
    assert_eq!((spec.input_of(0), spec.input_of(1)), (CIFAR, Shape::new(32, 32, 32)));
}

#[test]
fn known_networks_take_other_images_where_shapes_allow() {
    // 28 → 14 → 7 → 3.
    assert_eq!(named("vgg-small", MNIST).shapes()[14], Shape::new(128, 3, 3));
    // LeNet-5's published size, for both of its image sizes.
    for side in [28, 32] {
        assert_eq!(named("lenet", Shape::new(1, side, side)).parameters(), 61_706, "{side}");
    }
    let small = Spec::named("vgg-small", Shape::new(1, 4, 4), 10).unwrap().unwrap_err().to_string();
    assert_eq!(
        small,
        "vgg-small, layer 15 (\"max-pool 2\"): a window of 2x2 does not fit into the image (padding 0): its input \
         is 128x1x1"
    );
    assert!(Spec::named("resnet", CIFAR, 10).is_none());
}

#[test]
fn windows_that_hang_over_the_edge_are_left_out() {
    let texts =
        ["conv 4 5x5 stride 2 padding 0", "relu", "average-pool 2 stride 1", "max-pool 2", "dense 10"];
    let spec = Spec::new(Shape::new(2, 14, 9), layers(&texts), 10).unwrap();
    let image = |height, width| Shape::new(4, height, width);
    // (14−5)/2 = 4.5 → 5 windows, (9−5)/2 → 3.
    assert_eq!(spec.shapes(), [image(5, 3), image(5, 3), image(4, 2), image(2, 1), Shape::flat(10)]);
}

#[test]
fn networks_that_do_not_fit_are_refused_with_their_shapes() {
    let pools = ["conv 32", "max-pool 2", "max-pool 2", "dense 10"];
    assert_eq!(
        refusal(Shape::new(1, 2, 2), &pools),
        "layer 3 (\"max-pool 2\"): a window of 2x2 does not fit into the image (padding 0): its \
         input is 32x1x1"
    );
    for (texts, part) in [
        (&["conv 8 7x7", "dense 10"][..], "the kernel is 7x7, it must be 1x1, 3x3 or 5x5"),
        (&["conv 8 2x2", "dense 10"], "the kernel is 2x2"),
        (&["conv 8 padding 3", "dense 10"], "the padding is 3, it must be below the kernel's 3"),
        (&["conv 8 stride 0", "dense 10"], "the stride is 0"),
        (&["conv 0", "dense 10"], "the number of channels is 0"),
        (&["max-pool 0", "dense 10"], "the window is 0"),
        (&["max-pool 29 stride 1", "dense 10"], "a window of 29x29 does not fit"),
        (
            &["conv 12", "group-norm 8", "dense 10"],
            "8 groups do not divide 12 channels evenly: its input is 12x28",
        ),
        (&["group-norm 0", "dense 10"], "the number of groups is 0"),
        (&["dense 64", "conv 8", "dense 10"], "layer 2 (\"conv 8\"): only dense, tanh and relu can follow"),
        (&["dense 64", "group-norm 8", "dense 10"], "only dense, tanh and relu can follow"),
        (&["dense 0", "dense 10"], "the number of values is 0"),
        (
            &["dense 64"],
            "the last layer is \"dense 64\": the data has 10 classes, so it must be \"dense 10\"",
        ),
        (&["dense 10", "tanh"], "the last layer is \"tanh\""),
        (&[], "the last layer is missing"),
        (&["dense 49000000", "dense 10"], "more than 50000000 parameters: its input is 1x28x28"),
        (&["conv 40000000", "dense 10"], "has more than 50000000 values"),
        (&["conv 18446744073709551615", "dense 10"], "has more than 50000000 values"),
        (&["dense 18446744073709551615", "dense 10"], "has more than 50000000 values"),
    ] {
        let text = refusal(MNIST, texts);
        assert!(text.contains(part), "{texts:?}: {text}");
    }
    let flat = layers(&["dense 10"]);
    for input in [Shape::new(0, 1, 1), Shape::new(usize::MAX, 2, 1), Shape::flat(MOST_VALUES + 1)] {
        assert!(matches!(
            Spec::new(input, flat.clone(), 10).unwrap_err().fault,
            Fault::Input { input: found } if found == input
        ));
    }
    assert!(matches!(Spec::new(MNIST, flat, 1).unwrap_err().fault, Fault::Classes { classes: 1 }));
}

#[test]
fn starts_are_uniform_within_one_over_the_root_of_fan_in() {
    let texts = ["conv 16", "group-norm 4", "relu", "dense 64", "tanh", "dense 10"];
    let spec = Spec::new(CIFAR, layers(&texts), 10).unwrap();
    let start = spec.start(Law::FanIn, 7);
    assert_eq!(start.dimension(), spec.parameters());
    let values = |name: &str| {
        let tensor = spec.tensors().iter().find(|t| t.name == name).unwrap();
        start.values()[tensor.range()].to_vec()
    };
    for (name, fan_in) in
        [("conv1.weight", 27), ("conv1.bias", 27), ("fc1.weight", 16 * 1024), ("fc2.bias", 64)]
    {
        let (values, bound) = (values(name), 1.0 / f64::from(fan_in).sqrt());
        assert!(values.iter().all(|v| v.abs() <= bound * (1.0 + 1e-7)), "{name}");
        assert!(values.iter().any(|v| v.abs() > 0.5 * bound), "{name}");
    }
    let wide = values("fc1.weight");
    let moments = wide.iter().fold((0.0, 0.0), |(m, s), v| (m + v, s + v * v));
    let (n, variance) = (wide.len() as f64, 1.0 / (3.0 * 16.0 * 1024.0));
    assert!((moments.1 / n / variance - 1.0).abs() < 0.01, "variance {}", moments.1 / n);
    assert!(moments.0.abs() / n < 5.0 * (variance / n).sqrt(), "mean {}", moments.0 / n);
    assert!(
        values("norm1.weight").iter().all(|v| *v == 1.0) && values("norm1.bias").iter().all(|v| *v == 0.0)
    );
    assert!(start.values().iter().all(|v| f64::from(*v as f32) == *v), "every value is an f32");
    assert_eq!(spec.start(Law::FanIn, 7), start);
    assert_ne!(spec.start(Law::FanIn, 8), start);
}

#[test]
fn glorots_start_counts_both_fans_and_has_no_biases() {
    let spec =
        Spec::new(CIFAR, layers(&["conv 16 5x5", "tanh", "dense 64", "tanh", "dense 10"]), 10).unwrap();
    let start = spec.start(Law::Glorot, 7);
    for (tensor, fans) in spec.tensors().iter().zip([(75, 400), (0, 0), (16 * 1024, 64), (0, 0), (64, 10)]) {
        let values = &start.values()[tensor.range()];
        if tensor.role == Role::Bias {
            assert!(values.iter().all(|v| v.to_bits() == 0), "{}", tensor.name);
            continue;
        }
        let bound = (6.0 / f64::from(fans.0 + fans.1)).sqrt();
        let largest = values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        assert!(largest <= bound * (1.0 + 1e-7) && largest > 0.98 * bound, "{}: {largest}", tensor.name);
        let variance = values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
        assert!((variance * 3.0 / (bound * bound) - 1.0).abs() < 0.15, "{}: {variance}", tensor.name);
    }
    assert_eq!(Law::ALL.map(|law| Law::named(law.name())), Law::ALL.map(Some));
    assert_eq!(Law::named("zeros"), None);
}

#[test]
fn group_norm_first_leaves_convolutions_their_input_gradient() {
    let with = |texts: &[&str]| Spec::new(MNIST, layers(texts), 10).unwrap().flops();
    let dense = 2 * 784 * 10;
    assert_eq!(with(&["dense 10"]), 2 * dense);
    assert_eq!(with(&["group-norm 1", "dense 10"]), 3 * dense);
}

#[test]
fn layers_are_read_with_their_defaults() {
    for (text, layer) in [
        ("conv 32", Layer::Conv { out: 32, kernel: 3, stride: 1, padding: 1 }),
        ("conv 32 5x5", Layer::Conv { out: 32, kernel: 5, stride: 1, padding: 2 }),
        ("conv 32 5x5 stride 2 padding 0", Layer::Conv { out: 32, kernel: 5, stride: 2, padding: 0 }),
        ("  conv  8 padding 0 1x1 ", Layer::Conv { out: 8, kernel: 1, stride: 1, padding: 0 }),
        ("max-pool 2", Layer::MaxPool { size: 2, stride: 2 }),
        ("average-pool 3 stride 2", Layer::AveragePool { size: 3, stride: 2 }),
        ("group-norm 8", Layer::GroupNorm { groups: 8 }),
        ("dense 128", Layer::Dense { out: 128 }),
        ("tanh", Layer::Tanh),
        ("relu", Layer::Relu),
    ] {
        assert_eq!(text.parse(), Ok(layer), "{text}");
    }
    let spec = Spec::new(MNIST, layers(&["conv 8 5x5 padding 2", "dense 10"]), 10).unwrap();
    assert_eq!(spec.to_string(), "[\"conv 8 5x5\", \"dense 10\"]");
}

#[test]
fn text_that_is_no_layer_says_what_is_wrong() {
    for (text, part) in [
        ("", "unknown layer \"\"; expected one of conv, max-pool, average-pool"),
        ("convolution 8", "unknown layer \"convolution\""),
        ("flatten", "leave it out"),
        ("softmax", "end with dense"),
        ("conv", "\"conv\" needs a number; it is written \"conv CHANNELS [3x3] [stride 1] [padding 1]\""),
        ("conv many", "has \"many\" where a whole number is needed"),
        ("conv -3", "has \"-3\" where a whole number is needed"),
        ("conv +3", "has \"+3\" where a whole number is needed"),
        ("conv 3.5", "has \"3.5\""),
        ("conv 99999999999999999999", "where a whole number is needed"),
        ("conv 8 3x5", "has a kernel that is not square"),
        ("conv 8 stride", "needs a number after \"stride\""),
        ("conv 8 stride 1 stride 2", "gives its stride twice"),
        ("conv 8 dilation 2", "has \"dilation\" in it, which it cannot have"),
        ("max-pool 2 padding 1", "has \"padding\" in it, which it cannot have"),
        ("dense 3 4", "has \"4\" in it, which it cannot have; it is written \"dense VALUES\""),
        ("tanh 3", "has \"3\" in it"),
        ("relu x", "has \"x\" in it"),
    ] {
        let error = text.parse::<Layer>().unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    for text in ["batch-norm", "BatchNorm2d", "batch norm 8", "batchnorm", "batch_norm 4", "BN 8"] {
        assert_eq!(text.parse::<Layer>(), Err(LayerError::BatchNorm), "{text}");
    }
    assert!(LayerError::BatchNorm.to_string().contains("use group-norm"));
}

fn any_layer() -> impl Strategy<Value = Layer> {
    let n = || 0_usize..200;
    prop_oneof![
        (n(), 0_usize..7, 0_usize..4, 0_usize..7).prop_map(|(out, kernel, stride, padding)| Layer::Conv {
            out,
            kernel,
            stride,
            padding
        }),
        (0_usize..6, 0_usize..6).prop_map(|(size, stride)| Layer::MaxPool { size, stride }),
        (0_usize..6, 0_usize..6).prop_map(|(size, stride)| Layer::AveragePool { size, stride }),
        n().prop_map(|out| Layer::Dense { out }),
        Just(Layer::Tanh),
        Just(Layer::Relu),
        (0_usize..20).prop_map(|groups| Layer::GroupNorm { groups }),
    ]
}

proptest! {
    #[test]
    fn every_layer_comes_back_from_its_text(layer in any_layer()) {
        prop_assert_eq!(layer.to_string().parse::<Layer>(), Ok(layer));
    }

    #[test]
    fn no_text_breaks_the_reader(text in "(conv|max-pool|dense|group-norm|tanh|x)?[ 0-9a-zx-]{0,24}") {
        if let Ok(layer) = text.parse::<Layer>() {
            prop_assert_eq!(layer.to_string().parse::<Layer>(), Ok(layer));
        }
    }

    #[test]
    fn accepted_networks_are_whole(
        mut layers in proptest::collection::vec(any_layer(), 0..6),
        (channels, height, width) in (0_usize..9, 0_usize..20, 0_usize..20),
    ) {
        layers.push(Layer::Dense { out: 3 });
        if let Ok(spec) = Spec::new(Shape::new(channels, height, width), layers, 3) {
            prop_assert!(spec.shapes().iter().all(|shape| shape.size() >= 1));
            prop_assert_eq!(spec.shapes().len(), spec.layers().len());
            prop_assert_eq!(spec.parameters(), spec.tensors().iter().map(Tensor::len).sum::<usize>());
            for law in Law::ALL {
                prop_assert_eq!(spec.start(law, 1).dimension(), spec.parameters());
            }
            prop_assert!(spec.flops() > 0);
        }
    }
}
