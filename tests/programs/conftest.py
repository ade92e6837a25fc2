"""The programs and libraries here are run by `kameleon run`, in processes of their own."""

collect_ignore = ["whole", "libraries", "tf_keras", "tf_keras_2"]
